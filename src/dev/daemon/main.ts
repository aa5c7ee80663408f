import { parseArgs } from 'node:util'
import { giveConfigFile, readConfigFile } from './config-file.ts'
import { startDaemon } from './start.ts'
import { becomeUser, findUnprivilegedUser, isolationWarning } from './unprivileged-user.ts'

const usage = `Usage: npm run daemon -- --config <node configuration as JSON> --data <directory> [--allow-local-pulls]
  --allow-local-pulls  lets servers fetch files from loopback and private addresses, which Wings never does`

const options = readOptions()
const configuration = await readConfigFile(options.config)
const user = findUnprivilegedUser()
if (user) giveConfigFile(options.config, user)
becomeUser(user, options.data)
console.log(isolationWarning(user))
const daemon = await startDaemon({
  ...configuration,
  host: '127.0.0.1',
  dataDirectory: options.data,
  allowLocalPulls: options.allowLocalPulls,
  log: console.log,
})
await daemon.ready
console.log(`The daemon listens at ${daemon.url}`)

const close = () => {
  daemon.close().then(
    () => process.exit(0),
    () => process.exit(1),
  )
}
process.once('SIGINT', close)
process.once('SIGTERM', close)

/** Reads the command line. Prints the usage and exits for `--help`, and with code 2 when an option is wrong. */
function readOptions(): { config: string; data: string; allowLocalPulls: boolean } {
  try {
    const { values } = parseArgs({
      options: {
        config: { type: 'string' },
        data: { type: 'string' },
        'allow-local-pulls': { type: 'boolean', default: false },
        help: { type: 'boolean' },
      },
    })
    if (values.help) {
      console.log(usage)
      process.exit(0)
    }
    if (!values.config || !values.data) throw new Error('--config and --data are required.')
    return { config: values.config, data: values.data, allowLocalPulls: values['allow-local-pulls'] }
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`)
    return process.exit(2)
  }
}
