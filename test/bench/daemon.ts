import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * A daemon in its own process that accepts every request at once and reports a running server. `GET /count` returns how
 * many commands it took.
 */
const stats = JSON.stringify({
  state: 'running',
  is_suspended: false,
  utilization: {
    memory_bytes: 123_456_789,
    memory_limit_bytes: 536_870_912,
    cpu_absolute: 12.345,
    disk_bytes: 987_654_321,
    network: { rx_bytes: 1234, tx_bytes: 5678 },
    uptime: 98_765,
    state: 'running',
  },
})
let taken = 0
const server = createServer((request, response) => {
  request.resume().on('end', () => {
    if (request.url === '/count') return response.end(JSON.stringify({ taken }))
    if (request.method === 'GET')
      return response.writeHead(200, { 'content-type': 'application/json' }).end(stats)
    if (request.url?.endsWith('/commands')) taken += 1
    return response.writeHead(request.url === '/api/servers' ? 202 : 204).end()
  })
})
process.on('SIGINT', () => process.exit(0))
server.listen(0, '127.0.0.1', () => console.log(`listening ${(server.address() as AddressInfo).port}`))
