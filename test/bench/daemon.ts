import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A daemon in its own process that accepts every request at once; `GET /count` returns how many. */
let taken = 0
const server = createServer((request, response) => {
  request.resume().on('end', () => {
    if (request.url === '/count') return response.end(JSON.stringify({ taken }))
    taken += 1
    return response.writeHead(204).end()
  })
})
process.on('SIGINT', () => process.exit(0))
server.listen(0, '127.0.0.1', () => console.log(`listening ${(server.address() as AddressInfo).port}`))
