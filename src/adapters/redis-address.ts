/** Where a Redis is: one server, the sentinels that know a master, or nodes of a cluster. */
export type RedisAddress = {
  kind: 'server' | 'sentinel' | 'cluster'
  nodes: { host: string; port: number }[]
  usesTls: boolean
  username: string | null
  password: string | null
  /** 0 in a cluster, which has no others. */
  database: number
  /** Name that the sentinels have for the master; null without sentinels. */
  master: string | null
  /** Password of the sentinels themselves; null where they ask for none. */
  sentinelPassword: string | null
}

/** The formats of an address, for messages and the reference. */
export const redisFormats =
  'redis://host:port, redis+sentinel://host:port,…/master, or redis+cluster://host:port,…'

const pattern =
  /^(?:redis|valkey)(s?)(?:\+(sentinel|cluster))?:\/\/(?:([^@/?#\s]*)@)?([^@/?#\s]+)(?:\/([^?#\s]*))?(?:\?sentinel_password=([^&#\s]+))?$/
const defaultPorts = { server: 6379, sentinel: 26_379, cluster: 6379 }

/**
 * Parses `redis://` and `rediss://` (TLS) with one host, `redis+sentinel://` with sentinels and the name of the master, and
 * `redis+cluster://` with nodes of a cluster; `valkey` stands for `redis` everywhere. Returns null for anything else.
 */
export function parseRedisAddress(url: string): RedisAddress | null {
  const [, tls, kindName, credentials = '', hosts = '', path = '', sentinelPassword] = pattern.exec(url) ?? []
  const kind = (kindName ?? 'server') as RedisAddress['kind']
  const nodes = hosts.split(',').map((host) => parseHost(host, defaultPorts[kind]))
  const place = parsePath(kind, path)
  if (tls === undefined || place === null || nodes.includes(null)) return null
  if (kind === 'server' && nodes.length > 1) return null
  if (sentinelPassword !== undefined && kind !== 'sentinel') return null
  const [username = '', password = ''] = split(credentials, ':').map(decode)
  return {
    kind,
    nodes: nodes as RedisAddress['nodes'],
    usesTls: tls === 's',
    username: username || null,
    password: password || null,
    ...place,
    sentinelPassword: sentinelPassword === undefined ? null : decode(sentinelPassword),
  }
}

/** Returns the parts before and after the first separator. */
function split(text: string, separator: string): string[] {
  const at = text.indexOf(separator)
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)]
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function parseHost(text: string, defaultPort: number): RedisAddress['nodes'][number] | null {
  const [, bracketed, plain, digits] = /^(?:\[([\da-fA-F:.]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(text) ?? []
  const host = bracketed ?? plain
  const port = Number(digits ?? defaultPort)
  return host === undefined || port === 0 || port > 65_535 ? null : { host, port }
}

/** Reads the number of the database, and behind sentinels the name of the master before it. */
function parsePath(
  kind: RedisAddress['kind'],
  path: string,
): Pick<RedisAddress, 'master' | 'database'> | null {
  const [master, number = ''] = kind === 'sentinel' ? split(path, '/').map(decode) : [null, path]
  if (master === '' || !/^\d{0,4}$/.test(number) || (kind === 'cluster' && path !== '')) return null
  return { master: master ?? null, database: Number(number) }
}
