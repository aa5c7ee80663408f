import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { startWorkers } from '../../support/workers.ts'
import type { OpenPlatform } from './platform.ts'

/** As the routes of wrangler.toml have it. */
const host = 'panel.example.com'
/** Files which the edge gives before it asks a worker. */
const assets = /^\/(?:assets\/|openapi\.json$)/
/** The first of them, which has the files, is asked for what no route names. */
const surfaces = ['browser', 'client', 'application', 'remote', 'jobs']

/** A worker for each surface in workerd, behind an edge. */
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

/** What stands before workers: says who calls, and hands on everything else as it is. */
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

/** Headers that are of one connection, and those that the edge alone writes. */
const ofTheEdge = new Set(['host', 'connection', 'keep-alive', 'cf-connecting-ip'])

function handOn(target: URL, incoming: IncomingMessage, outgoing: ServerResponse): void {
  const onward = request({
    host: target.hostname,
    port: target.port,
    method: incoming.method,
    path: incoming.url,
    headers: [
      ...kept(incoming.rawHeaders),
      'host',
      // Where a route is named, Miniflare asks its worker alone and passes the files by.
      assets.test(incoming.url ?? '/') ? target.host : host,
      'cf-connecting-ip',
      incoming.socket.remoteAddress ?? '',
    ],
    agent: false,
  })
  onward.on('response', (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, kept(answer.rawHeaders))
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

/** Pairs of name and value in one list, but for those of the edge. */
const kept = (headers: string[]) =>
  headers.filter((_, at) => !ofTheEdge.has((headers[at - (at % 2)] ?? '').toLowerCase()))
