import { backupUuid, serverUuid, userUuid } from './answers-world.ts'

/** One request whose answer is recorded. */
export type RecordedRequest = { caller: string; path: string }

/** Values of the parameters in paths; the first is what most variants use. */
const parameters: Record<string, string[]> = {
  'client server': [1, 2, 3, 4, 5, 6, 8, 75, 100].map((n) => serverUuid(n)).concat('00000001', 'ffffffff'),
  'application server': ['1', '3', '5', '100', '9999', 'x'],
  backup: [backupUuid(1), backupUuid(2), backupUuid(4), backupUuid(40), serverUuid(1)],
  schedule: ['2', '4', '1', '99'],
  'client user': [userUuid(3), userUuid(8), userUuid(2)],
  'application user': ['2', '1', '999'],
  database_host: ['1', '2', '9'],
  location: ['1', '2', '3', '99'],
  nest: ['1', '2', '99'],
  egg: ['1', '2', '3', '5', '6', '99'],
  node: ['1', '2', '3', '99'],
  database: ['1', '3', '99'],
  external_id: ['ext-user-3', 'ext-5', 'nothing'],
  uuid: [serverUuid(5), serverUuid(10), serverUuid(1), serverUuid(3), 'nonsense'],
  name: ['2.png'],
  provider: ['github', 'nothing'],
  page: ['files', 'backups', 'nothing'],
  item: ['1'],
  token: ['token'],
}

/** Callers by the beginning of the path; the first reads everything. */
const callersOf = (path: string): string[] => {
  if (path.startsWith('/api/application')) return ['application', 'servers_only', 'demoted', 'owner', 'none']
  if (path.startsWith('/api/remote')) return ['node', 'other_node', 'none']
  if (path.startsWith('/api/client'))
    return ['owner', 'subuser', 'admin', 'other', 'owner_session', 'limited', 'wrong', 'none']
  return ['owner_session', 'admin_session', 'none']
}

const relations =
  'allocations,user,subusers,nest,egg,location,node,databases,variables,servers,eggs,nodes,config,script,server,host,password,actor,api_key,nothing,tasks'.split(
    ',',
  )
const nested = [
  'node.location',
  'servers.user',
  'servers.allocations',
  'egg.variables',
  'eggs.variables',
  'subusers.user',
  'user.servers',
  'allocations.server',
]
const sorts = ['id', '-id', 'uuid', '-uuid', 'memory', '-disk,id', 'timestamp', '-timestamp', 'name']
const pages = ['page=2&per_page=7', 'per_page=3', 'page=999', 'per_page=1000', 'page=0&per_page=0', 'page=x']
const plainValues = ['1', 'er', 'Server 1', 'zzz', '%', '_', 'Größe', '1,2', 'a"b', '']

/** Values of filters that have their own. */
const filterValues: Record<string, string[]> = {
  uuid: [serverUuid(5), '00000005', userUuid(2), '0000', 'zzz'],
  uuidShort: ['00000005', '0000000', 'zzz'],
  external_id: ['ext-5', 'ext', 'ext-user-3', 'zzz'],
  email: ['user3@example.test', 'example', 'zzz'],
  username: ['user1', 'USER2', 'zzz'],
  fqdn: ['127.0.0.1', '127', 'zzz'],
  ip: ['198.51.100.7', '203.0.113.7', '198', 'zzz'],
  ip_alias: ['play', 'play4.example.test', 'zzz'],
  port: ['20001', '200', '20001,20006', 'x'],
  server_id: ['1', 'false', '0', '9999', ''],
  state: ['waiting', 'done', 'dead', 'zzz', 'waiting,dead'],
  event: ['power', 'server:', 'zzz', '%'],
  event_exact: ['server:power.start', 'server:power'],
  period: ['24h', '7d', '30d', '90d', 'x'],
  date: ['2026-11-19', '2026-11-20', 'x'],
  source: ['web', 'sftp', 'system', 'x'],
  image: ['ghcr.io', 'zzz'],
}

/** Queries of routes without a list. */
const ownQueries: [RegExp, string[]][] = [
  [/\/files\/list$/, ['directory=/', 'directory=/a/../b', 'directory=/secret']],
  [/\/files\/(contents|download)$/, ['file=/file-1.txt', 'file=/../x', 'file=secret.txt']],
  [
    /\/schedules\/preview$/,
    [
      'minute=*/5&hour=*&day_of_month=*&month=*&day_of_week=*',
      'minute=0&hour=3&day_of_month=1&day_of_week=*&timezone=Europe/Berlin',
      'minute=99&hour=*&day_of_month=*&day_of_week=*',
    ],
  ],
  [
    /\/servers\/resources$/,
    [
      `servers[]=${serverUuid(1)}&servers[]=${serverUuid(2)}&servers[]=00000100`,
      'servers[]=00000001,00000002',
    ],
  ],
  [/\/locale\.json$/, ['locale=en%20de&namespace=strings%20activity', 'locale=fr&namespace=server']],
  [
    /\/placement$/,
    ['memory=512&disk=1024', 'memory=999999999&disk=1&search=node', 'memory=0&disk=0&allocations=3'],
  ],
  [
    /\/deployable$/,
    [
      'memory=512&disk=1024',
      'memory=512&disk=1024&location_ids[]=1&location_ids[]=2',
      'memory=999999999&disk=1',
      'memory=512&disk=1024&per_page=2&page=2&include=location,servers',
    ],
  ],
  [/\/databases$/, ['include=password']],
  [/\/backups\/:backup$/, ['size=10000000000', 'size=5']],
  [
    /\/servers$/,
    [
      'page=0&per_page=50',
      'page=1&per_page=10',
      'search=Server%201',
      'search=user1',
      'search=198.51.100.7',
      'search=20005',
    ],
  ],
  [
    /^\/api\/client$/,
    [
      'type=owner',
      'type=admin',
      'type=admin-all',
      'type=accessible&per_page=100',
      'filter[*]=198.51.100.5',
      'filter[*]=20005',
      'filter[*]=play4',
      'include=egg,subusers',
      'include=egg&filter[name]=1&per_page=5&page=2',
    ],
  ],
  [
    /activity$/,
    [
      'filter[event]=server:&filter[source]=api&sort=timestamp&per_page=10&page=2',
      'format=ndjson',
      'format=csv',
      'include=actor&per_page=100',
    ],
  ],
]

const isApplication = (path: string) => path.startsWith('/api/application')

function valuesOf(path: string, name: string): string[] {
  const surface = isApplication(path) ? 'application' : 'client'
  return parameters[`${surface} ${name}`] ?? parameters[name] ?? ['1']
}

/** Fills in the parameters: all values of each one beside the first of the others. */
function filledPaths(path: string): string[] {
  const names = [...path.matchAll(/:(\w+)(?:\{[^}]*\})?/g)].map(([, name = '']) => name)
  const fill = (values: Record<string, string>) =>
    path.replaceAll(/:(\w+)(?:\{[^}]*\})?/g, (_whole, name: string) => values[name] ?? '1')
  const first = Object.fromEntries(names.map((name) => [name, valuesOf(path, name)[0] ?? '1']))
  const variants = names.flatMap((name) =>
    valuesOf(path, name).map((value) => fill({ ...first, [name]: value })),
  )
  return [...new Set([fill(first), ...variants])]
}

function queriesOf(path: string, parameterNames: string[]): string[] {
  const has = (name: string) => parameterNames.includes(name)
  const filters = parameterNames.flatMap((name) => /^filter\[(.+)\]$/.exec(name)?.[1] ?? [])
  const filtered = filters.flatMap((name) =>
    (filterValues[name] ?? plainValues).map((value) => `filter[${name}]=${encodeURIComponent(value)}`),
  )
  const pairs = filters.slice(1).map((name, at) => {
    const [one, other] = [filters[at] ?? '', name].map((each) => (filterValues[each] ?? plainValues)[0] ?? '')
    return `filter[${filters[at]}]=${one}&filter[${name}]=${other}&per_page=5`
  })
  return [
    ...(has('page') ? pages : []),
    ...filtered,
    ...pairs,
    ...(filters.length > 0 ? ['filter[bogus]=1'] : []),
    ...(has('sort') ? sorts.map((sort) => `sort=${sort}`).concat('sort=-id&page=2&per_page=9') : []),
    ...(has('include')
      ? [...relations, ...nested, relations.join(','), 'user,egg,node'].map((names) => `include=${names}`)
      : []),
    ...ownQueries.flatMap(([pattern, queries]) => (pattern.test(path) ? queries : [])),
  ]
}

/** Lists the requests of a GET route, whose parameters of the query have these names. */
export function requestsOf(path: string, parameterNames: string[]): RecordedRequest[] {
  const first = path.includes('/remote/backups') ? 'other_node' : (callersOf(path)[0] ?? 'none')
  const paths = filledPaths(path)
  const [plain = path] = paths
  const own = ownQueries.find(([pattern]) => pattern.test(path))?.[1][0]
  const needed = own && !parameterNames.includes('page') ? `?${own}` : ''
  const requests = paths.flatMap((each) =>
    callersOf(path).map((caller) => ({ caller, path: `${each}${needed}` })),
  )
  const queried = queriesOf(path, parameterNames).flatMap((query) => {
    const variant = { caller: first, path: `${plain}?${query}` }
    const asOthers = /include=[^&]*,|type=|activity/.test(variant.path) ? callersOf(path).slice(1, 3) : []
    return [variant, ...asOthers.map((caller) => ({ ...variant, caller }))]
  })
  return [...requests, ...queried]
}
