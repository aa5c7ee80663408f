import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A daemon in its own process, with as many entries in each folder as its argument says. */
const count = Number(process.argv[2])
const batchSize = 1000

const entryOf = (at: number) => ({
  name: `region.${at}.${(at * 7919) % count}.mca`,
  created: '2026-03-01T12:00:00+02:00',
  modified: '2026-03-02T12:00:00Z',
  mode: '-rw-r--r--',
  mode_bits: '644',
  size: at,
  directory: false,
  file: true,
  symlink: false,
  mime: 'application/octet-stream',
})

function* listing(): Generator<string> {
  for (let from = 0; from < count; from += batchSize) {
    const batch = Array.from({ length: Math.min(batchSize, count - from) }, (_, at) => entryOf(from + at))
    yield (from === 0 ? '[' : ',') + JSON.stringify(batch).slice(1, -1)
  }
  yield ']'
}

const server = createServer((request, response) => {
  request.resume().on('end', () => {
    response.writeHead(200, { 'content-type': 'application/json' })
    const batches = listing()
    const next = (): void => {
      for (let batch = batches.next(); !batch.done; batch = batches.next()) {
        if (response.destroyed) return
        if (!response.write(batch.value)) return void response.once('drain', next)
      }
      response.end()
    }
    next()
  })
})
process.on('SIGINT', () => process.exit(0))
server.listen(0, '127.0.0.1', () => console.log(`listening ${(server.address() as AddressInfo).port}`))
