import { parseArgs } from 'node:util'
import { configure, type ConfigureRequest } from './configure.ts'
import { giveConfigFile, readConfigFile } from './config-file.ts'
import { describeError } from './panel-client.ts'
import { startDaemon } from './start.ts'
import { becomeUser, findUnprivilegedUser, isolationWarning } from './unprivileged-user.ts'

const usage = `Usage: npm run daemon -- --config <node configuration as JSON> --data <directory> [--allow-local-pulls]
       npm run daemon -- configure --panel-url <URL> --token <Application key> --node <id> --config <file to write>
  --allow-local-pulls  lets servers fetch files from loopback and private addresses, which Wings never does
  configure            fetches the configuration of the node from the panel, as \`wings configure\` does`

const options = process.argv[2] === 'configure' ? await runConfigure() : readOptions()
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

/** Reads the command line of `configure`, writes the configuration, and ends the process: with code 1 when the panel refuses. */
async function runConfigure(): Promise<never> {
  const request = parse(readConfigureRequest)
  try {
    await configure(request)
    console.log(`The configuration of node ${request.node} is in ${request.file}`)
    return process.exit(0)
  } catch (error) {
    console.error(describeError(error))
    return process.exit(1)
  }
}

function readConfigureRequest(): ConfigureRequest {
  const text = { type: 'string' } as const
  const { values } = parseArgs({
    args: process.argv.slice(3),
    options: { 'panel-url': text, token: text, node: text, config: text },
  })
  const { 'panel-url': panelUrl, token, node, config } = values
  if (!panelUrl || !token || !node || !config)
    throw new Error('--panel-url, --token, --node and --config are required.')
  return { panelUrl, token, node, file: config }
}

function readOptions() {
  return parse(() => {
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
  })
}

/** Reads the command line. Prints the usage and exits with code 2 when an option is wrong. */
function parse<Options>(read: () => Options): Options {
  try {
    return read()
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`)
    return process.exit(2)
  }
}
