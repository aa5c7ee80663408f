import { parseArgs } from 'node:util'
import { startQstash } from './server.ts'

/** A queue for panels that are developed against the real protocol; it ends with the process. */
const { values } = parseArgs({ options: { port: { type: 'string', default: '8090' } } })
const queue = await startQstash({ port: Number(values.port) })
console.log(
  [
    `QSTASH_URL=${queue.url}`,
    `QSTASH_TOKEN=${queue.token}`,
    `QSTASH_CURRENT_SIGNING_KEY=${queue.keys.current}`,
    `QSTASH_NEXT_SIGNING_KEY=${queue.keys.next}`,
  ].join('\n'),
)
