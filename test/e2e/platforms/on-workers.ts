import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { startWorkers } from '../../support/workers.ts'
import type { OpenPlatform } from './platform.ts'

/** The host of the routes in wrangler.toml. */
const host = 'panel.example.com'
/** Files that the edge serves without a worker. */
const assets = /^\/(?:assets\/|openapi\.json$)/
/** The first one has the assets and handles paths without a route. */
const surfaces = ['browser', 'client', 'application', 'remote', 'jobs']

/** Starts a worker for each surface in workerd, behind an edge. */
export const openWorkers: OpenPlatform = async (environment) => {
  const edge = await startEdge()
  const secrets = { ...environment, APP_URL: edge.origin }
  const workers = await startWorkers(surfaces.map((surface) => ({ environment: surface, secrets })))
  edge.lead(workers.url)
  return {
    name: 'Workers',
    origin: edge.origin,
    tick: async () => {
      const { outcome } = await workers.worker('jobs').scheduled({ cron: '* * * * *' })
      if (outcome !== 'ok') throw new Error(`The tick ended with ${outcome}:\n${workers.logs().join('\n')}`)
    },
    close: async () => {
      await edge.close()
      await workers.close()
    },
  }
}

/** Starts the edge in front of the workers: adds the address of the caller and forwards everything else. */
async function startEdge() {
  let target = new URL('http://127.0.0.1:1')
  const server = createServer((incoming, outgoing) => handOn(target, incoming, outgoing))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    origin: `http://localhost:${(server.address() as AddressInfo).port}`,
    lead: (to: URL) => void (target = to),
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Hop-by-hop headers, and those that only the edge sets. */
const ofTheEdge = new Set(['host', 'connection', 'keep-alive', 'cf-connecting-ip'])

function handOn(target: URL, incoming: IncomingMessage, outgoing: ServerResponse): void {
  const onward = request({
    host: target.hostname,
    port: target.port,
    method: incoming.method,
    path: incoming.url,
    headers: [
      ...forwarded(incoming.rawHeaders),
      'host',
      // Where a route is named, Miniflare asks its worker alone and passes the files by.
      assets.test(incoming.url ?? '/') ? target.host : host,
      'cf-connecting-ip',
      incoming.socket.remoteAddress ?? '',
    ],
    agent: false,
  })
  onward.on('response', (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, forwarded(answer.rawHeaders))
    answer.pipe(outgoing)
    answer.on('error', () => outgoing.destroy())
  })
  onward.on('error', () => {
    if (!outgoing.headersSent) outgoing.writeHead(502)
    outgoing.end()
  })
  outgoing.on('close', () => onward.destroy())
  incoming.pipe(onward)
}

/** Filters a flat list of header names and values, without those of the edge. */
const forwarded = (headers: string[]) =>
  headers.filter((_, at) => !ofTheEdge.has((headers[at - (at % 2)] ?? '').toLowerCase()))
