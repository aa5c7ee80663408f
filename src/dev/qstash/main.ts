import { parseArgs } from 'node:util'
import { startQstash } from './server.ts'

const usage = `Usage: npm run qstash -- [--port PORT]
Runs a queue with QStash's protocol on the loopback interface, for developing a panel against it. Prints the
variables a panel needs to use it; what it holds is lost when it ends.
  --port PORT  8090 by default`

const port = readPort()
const queue = await startQstash({ port }).catch((error: unknown) => {
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

/** Reads the command line. Prints the usage and exits for `--help`, and with code 2 when an option is wrong. */
function readPort(): number {
  try {
    const { values } = parseArgs({
      options: { port: { type: 'string', default: '8090' }, help: { type: 'boolean' } },
    })
    if (values.help) {
      console.log(usage)
      process.exit(0)
    }
    const isPort = /^\d{1,5}$/.test(values.port) && Number(values.port) <= 65_535
    if (!isPort) throw new Error(`--port ${values.port} is not a port number.`)
    return Number(values.port)
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`)
    return process.exit(2)
  }
}
