import { readOptions, refuseWords } from '../options.ts'
import { readConfigFile } from './config-file.ts'
import { startDaemon } from './start.ts'

const usage = `Usage: npm run daemon -- --config <node configuration as JSON> --data <directory> [--allow-local-pulls]
  --allow-local-pulls  servers may fetch files from loopback and private addresses, which Wings never lets them`

const values = readOptions(usage, {
  config: { type: 'string' },
  data: { type: 'string' },
  'allow-local-pulls': { type: 'boolean', default: false },
})
if (!values.config || !values.data) refuseWords(usage)

const daemon = await startDaemon({
  ...(await readConfigFile(values.config)),
  host: '127.0.0.1',
  dataDirectory: values.data,
  allowLocalPulls: values['allow-local-pulls'],
  log: console.log,
})
await daemon.ready
console.log(`The daemon listens at ${daemon.url}`)

const end = () => {
  daemon.close().then(
    () => process.exit(0),
    () => process.exit(1),
  )
}
process.once('SIGINT', end)
process.once('SIGTERM', end)
