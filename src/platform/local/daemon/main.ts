import { readFile } from 'node:fs/promises'
import { readOptions, refuseWords } from '../options.ts'
import { startDaemon } from './start.ts'

/** What of a node's configuration the development daemon uses; the panel answers it as JSON. */
type NodeConfiguration = {
  uuid: string
  token_id: string
  token: string
  remote: string
  api: { host: string; port: number }
}

const usage = `Usage: npm run daemon -- --config <node configuration as JSON> --data <directory> [--allow-local-pulls]
  --allow-local-pulls  servers may fetch files from loopback and private addresses, which Wings never lets them`

const values = readOptions(usage, {
  config: { type: 'string' },
  data: { type: 'string' },
  'allow-local-pulls': { type: 'boolean', default: false },
})
if (!values.config || !values.data) refuseWords(usage)

const configuration = JSON.parse(await readFile(values.config, 'utf8')) as NodeConfiguration
const daemon = await startDaemon({
  panelUrl: configuration.remote,
  tokenId: configuration.token_id,
  token: configuration.token,
  uuid: configuration.uuid,
  host: '127.0.0.1',
  port: configuration.api.port,
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
