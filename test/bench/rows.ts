import { csrfToken } from '../../src/domain/auth/sessions.ts'
import type { ClientRequest } from './http-client.ts'
import {
  applicationKeys,
  applicationToken,
  benchPassword,
  clientToken,
  nodeToken,
  serverUuid,
  type Size,
  userUuid,
} from './seed.ts'

/** A measured route; `request` gives the n-th request, of another key each time. */
export type Row = {
  name: string
  request: (n: number, size: Size) => ClientRequest
  status: number
  /** Whether the statements change rows: then explaining them is undone, and digests in them are renewed. */
  changing?: boolean
  /** Not measured against its own statements: most of its time is spent elsewhere. */
  isWithoutBaseline?: boolean
  /** The highest number of concurrent callers that is measured. */
  maxConcurrency?: number
}

export const origin = 'http://panel.test'
const json = { 'content-type': 'application/json' }
const bearer = (token: string) => ({ authorization: `Bearer ${token}`, accept: 'application/json' })

const keyOf = (n: number, { users, keysPerUser }: Size) => 1 + (n % (users * keysPerUser))
/** The first server of a user is the one with sixty entries of activity. */
const firstServerOf = (key: number, { users }: Size) => serverUuid(1 + ((key - 1) % users))
/** Any of the servers of the owner of a key. */
const serverOf = (key: number, n: number, { users, serversPerUser }: Size) =>
  serverUuid(1 + ((key - 1) % users) + users * (n % serversPerUser))

const byClient =
  (path: (key: number, n: number, size: Size) => string, method = 'GET', body?: object): Row['request'] =>
  (n, size) => {
    const key = keyOf(n, size)
    return {
      method,
      path: path(key, n, size),
      headers: { ...bearer(clientToken(key)), ...(body ? json : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    }
  }

const byApplication =
  (path: (n: number) => string, method = 'GET', body?: (n: number, size: Size) => object): Row['request'] =>
  (n, size) => ({
    method,
    path: path(n),
    headers: { ...bearer(applicationToken(1 + (n % applicationKeys))), ...(body ? json : {}) },
    ...(body ? { body: JSON.stringify(body(n, size)) } : {}),
  })

const nodeOf = (n: number, { nodes }: Size) => 1 + (n % (nodes - 1))

let entries = 0
/** A batch of a hundred entries as a daemon sends it, never the same. */
function activityBatch(node: number, { nodes, users, serversPerUser }: Size): object {
  const data = Array.from({ length: 100 }, (_, at) => {
    entries += 1
    const server = 1 + ((node - 1 + (nodes - 1) * at) % (users * serversPerUser))
    return {
      user: userUuid(1 + ((server - 1) % users)),
      server: serverUuid(server),
      event: ['server:power.start', 'server:console.command', 'server:sftp.write'][at % 3],
      metadata: { command: `say ${entries}` },
      ip: '203.0.113.7',
      timestamp: new Date().toISOString().replace('Z', `${String(entries % 1_000_000).padStart(6, '0')}Z`),
    }
  })
  return { data }
}

const newServer = (n: number, { users }: Size) => ({
  name: `Created ${n}`,
  user: users + 1,
  egg: 1 + (n % 4),
  docker_image: 'ghcr.io/games/java:21',
  startup: 'java -jar {{VARIABLE_1}}',
  environment: Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`VARIABLE_${at + 1}`, 'value'])),
  limits: { memory: 512, swap: 0, disk: 1024, io: 500, cpu: 100 },
  feature_limits: { databases: 0, allocations: 0, backups: 0 },
  deploy: { locations: [6], dedicated_ip: false, port_range: [] },
  start_on_completion: false,
})

let networks = 0
/** A login from another network each time, because logins are limited by network. */
export function loginRequest(n: number, { users }: Size): ClientRequest {
  networks += 1
  const token = `Guest${String(networks).padStart(43, '0')}`
  return {
    method: 'POST',
    path: '/auth/login',
    headers: {
      ...json,
      origin,
      cookie: `roost_session=${token}`,
      'x-xsrf-token': csrfToken(token),
      'x-forwarded-for': `10.${(networks >> 16) & 255}.${(networks >> 8) & 255}.${networks & 255}`,
    },
    body: JSON.stringify({ user: `user${1 + (n % users)}`, password: benchPassword }),
  }
}

const includes = 'allocations,user,egg,node,location'

/** What users, administrators and daemons do most. */
export const rows: Row[] = [
  {
    name: 'public',
    status: 200,
    request: () => ({ method: 'GET', path: '/locales/locale.json?locale=en&namespace=server', headers: {} }),
  },
  { name: 'account', status: 200, request: byClient(() => '/api/client/account') },
  { name: 'list', status: 200, request: byClient(() => '/api/client?per_page=50') },
  { name: 'summaries', status: 200, request: byClient(() => '/api/client/servers?per_page=50') },
  {
    name: 'view',
    status: 200,
    request: byClient((key, n, size) => `/api/client/servers/${serverOf(key, n, size)}`),
  },
  {
    name: 'resources',
    status: 200,
    request: byClient((key, _n, size) => `/api/client/servers/${firstServerOf(key, size)}/resources`),
  },
  {
    name: 'power',
    status: 204,
    changing: true,
    request: byClient((key, n, size) => `/api/client/servers/${serverOf(key, n, size)}/power`, 'POST', {
      signal: 'start',
    }),
  },
  {
    name: 'command',
    status: 204,
    changing: true,
    request: byClient((key, n, size) => `/api/client/servers/${serverOf(key, n, size)}/command`, 'POST', {
      command: 'say hi',
    }),
  },
  {
    name: 'feed',
    status: 200,
    request: byClient((key, _n, size) => `/api/client/servers/${firstServerOf(key, size)}/activity`),
  },
  {
    name: 'admin-list',
    status: 200,
    request: byApplication(
      (n) => `/api/application/servers?per_page=50&page=${1 + (n % 20)}&include=${includes}`,
    ),
  },
  {
    name: 'remote-page',
    status: 200,
    request: (n, size) => ({
      method: 'GET',
      path: `/api/remote/servers?page=${n % 3}&per_page=50`,
      headers: bearer(nodeToken(nodeOf(n, size))),
    }),
  },
  {
    name: 'remote-server',
    status: 200,
    request: (n, size) => ({
      method: 'GET',
      path: `/api/remote/servers/${serverUuid(nodeOf(n, size))}`,
      headers: bearer(nodeToken(nodeOf(n, size))),
    }),
  },
  {
    name: 'ingest',
    status: 200,
    changing: true,
    request: (n, size) => ({
      method: 'POST',
      path: '/api/remote/activity',
      headers: { ...bearer(nodeToken(nodeOf(n, size))), ...json },
      body: JSON.stringify(activityBatch(nodeOf(n, size), size)),
    }),
  },
  {
    name: 'create',
    status: 201,
    changing: true,
    isWithoutBaseline: true,
    maxConcurrency: 32,
    request: byApplication(() => '/api/application/servers', 'POST', newServer),
  },
  {
    name: 'login',
    status: 200,
    changing: true,
    isWithoutBaseline: true,
    maxConcurrency: 8,
    request: loginRequest,
  },
]
