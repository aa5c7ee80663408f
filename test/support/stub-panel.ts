import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

export type StubServer = {
  settings: Record<string, unknown>
  process_configuration: unknown
  install: { container_image: string; entrypoint: string; script: string }
}

export type StubCall = {
  method: string
  path: string
  query: URLSearchParams
  headers: IncomingMessage['headers']
  text: string
  body: unknown
}

export type StubPanel = {
  readonly url: string
  readonly servers: Map<string, StubServer>
  readonly calls: StubCall[]
  /** Upload links for an archive of a size, by the backup's uuid; other backups are unknown. */
  readonly uploads: Map<string, (size: number) => Promise<{ parts: string[]; part_size: number }>>
  /** Responds instead of the panel when it returns a status; may be replaced at any time. */
  refuse: (call: StubCall) => number | undefined
  callsTo: (method: string, path: string) => StubCall[]
  close: () => Promise<void>
}

/** Starts a stub of the panel's remote API on a free port of the loopback interface. */
export async function startStubPanel(): Promise<StubPanel> {
  const servers = new Map<string, StubServer>()
  const calls: StubCall[] = []
  const uploads: StubPanel['uploads'] = new Map()
  const http = createServer((request, response) => {
    void readCall(request).then(async (call) => {
      calls.push(call)
      const refused = panel.refuse(call)
      const answer =
        refused === undefined ? await answerCall(panel, call) : { status: refused, body: { errors: [] } }
      response.writeHead(answer.status, { 'Content-Type': 'application/json' })
      response.end(answer.body === undefined ? '' : JSON.stringify(answer.body))
    })
  })
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  const panel: StubPanel = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    servers,
    calls,
    uploads,
    refuse: () => undefined,
    callsTo: (method, path) => calls.filter((call) => call.method === method && call.path === path),
    close: async () => {
      http.closeAllConnections()
      await new Promise((resolve) => http.close(resolve))
    },
  }
  return panel
}

async function readCall(request: IncomingMessage): Promise<StubCall> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const url = new URL(request.url ?? '/', 'http://panel')
  const text = Buffer.concat(chunks).toString('utf8')
  return {
    method: request.method ?? '',
    path: url.pathname.replace(/^\/api\/remote/, ''),
    query: url.searchParams,
    headers: request.headers,
    text,
    body: text === '' ? undefined : JSON.parse(text),
  }
}

async function answerCall(
  { servers, uploads }: StubPanel,
  call: StubCall,
): Promise<{ status: number; body?: unknown }> {
  if (call.method === 'POST') return { status: 204 }
  if (call.path === '/servers') return { status: 200, body: listServers(servers, call.query) }
  const [, area, uuid = '', part] = call.path.split('/')
  const upload = uploads.get(uuid)
  if (area === 'backups' && upload) return { status: 200, body: await upload(Number(call.query.get('size'))) }
  const server = servers.get(uuid)
  if (!server)
    return { status: 404, body: { errors: [{ code: 'NotFound', status: '404', detail: 'unknown' }] } }
  if (part === 'install') return { status: 200, body: server.install }
  const { settings, process_configuration } = server
  return { status: 200, body: { settings, process_configuration } }
}

function listServers(servers: Map<string, StubServer>, query: URLSearchParams): unknown {
  const perPage = Number(query.get('per_page'))
  const page = Math.max(1, Number(query.get('page')))
  const all = [...servers].map(([uuid, { settings, process_configuration }]) => ({
    uuid,
    settings,
    process_configuration,
  }))
  return {
    data: all.slice((page - 1) * perPage, page * perPage),
    links: {},
    meta: {
      current_page: page,
      from: null,
      last_page: Math.max(1, Math.ceil(all.length / perPage)),
      per_page: perPage,
      to: null,
      total: all.length,
    },
  }
}
