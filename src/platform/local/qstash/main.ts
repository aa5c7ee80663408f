import { readOptions, refuseWords } from '../options.ts'
import { startQstash } from './server.ts'

const usage = `Usage: npm run qstash -- [--port PORT]
A queue for panels that are developed against QStash's protocol, on loopback and until it is stopped. Prints
the variables with which a panel uses it.
  --port PORT  8090 when left out`

const { port } = readOptions(usage, { port: { type: 'string', default: '8090' } })
if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) refuseWords(usage, `--port ${port} is no port.`)
const queue = await startQstash({ port: Number(port) }).catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error)
  return process.exit(1)
})
console.log(
  [
    `QSTASH_URL=${queue.url}`,
    `QSTASH_TOKEN=${queue.token}`,
    `QSTASH_CURRENT_SIGNING_KEY=${queue.keys.current}`,
    `QSTASH_NEXT_SIGNING_KEY=${queue.keys.next}`,
  ].join('\n'),
)
