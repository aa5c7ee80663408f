import { createClient, createCluster, createSentinel, type RedisClientOptions } from '@redis/client'
import type { RedisAddress } from './redis-address.ts'

type SetOptions = { expiration: { type: 'EX'; value: number }; condition?: 'NX' }

type ScriptOptions = { keys: string[]; arguments: string[] }

/** What the cache uses of a client; that of a server, of sentinels and of a cluster have it in common. */
export type Redis = {
  connect: () => Promise<unknown>
  destroy: () => void | Promise<void>
  get: (key: string) => Promise<string | null>
  set: (key: string, value: string, options: SetOptions) => Promise<unknown>
  del: (key: string) => Promise<number>
  multi: () => RedisTransaction
  /** Runs a script, by its digest once the server has it. */
  evalSha: (sha1: string, options: ScriptOptions) => Promise<unknown>
  eval: (script: string, options: ScriptOptions) => Promise<unknown>
  /** What TLS had against a certificate since the client was made; sentinels and clusters throw something else. */
  certificateFault: () => Error | null
}

/** The option of a key that expires after so many seconds. */
export const expiration = (value: number) => ({ type: 'EX' as const, value })

type RedisTransaction = {
  set: (key: string, value: string, options: SetOptions) => RedisTransaction
  incrBy: (key: string, count: number) => RedisTransaction
  ttl: (key: string) => RedisTransaction
  exec: () => Promise<unknown[]>
}

/** Makes the client of an address, which does not connect again by itself: who uses it opens a new one. */
export function createRedis(address: RedisAddress, timeoutMs: number): Redis {
  const client = clientOf(address, timeoutMs)
  let fault: Error | null = null
  // Calls fail by themselves; without a listener the error would end the process.
  client.on('error', (error: unknown) => {
    if (isOfCertificate(error)) fault = error
  })
  return Object.assign(client as unknown as Redis, { certificateFault: () => fault })
}

/** Whether TLS refused a certificate: codes of OpenSSL, and that of Node for a name that is not in it. */
export const isOfCertificate = (error: unknown): error is Error =>
  error instanceof Error &&
  /^(?!ERR_SSL_).*(?:CERT|SIGNATURE|ISSUER)/.test(String((error as { code?: unknown }).code))

function clientOf(address: RedisAddress, timeoutMs: number) {
  const { kind, nodes, master, database } = address
  const socket = socketOptions(address, timeoutMs)
  const options = { ...commonOptions, ...credentialsOf(address.username, address.password), socket }
  if (kind === 'cluster') {
    const rootNodes = nodes.map((node) => ({ ...options, socket: { ...socket, ...node } }))
    return createCluster({ RESP: 2, rootNodes, defaults: options })
  }
  if (kind === 'sentinel') {
    return createSentinel({
      RESP: 2,
      name: master ?? '',
      sentinelRootNodes: nodes,
      nodeClientOptions: { ...options, database },
      sentinelClientOptions: { ...commonOptions, ...credentialsOf(null, address.sentinelPassword), socket },
    })
  }
  return createClient({ ...options, RESP: 2, database, socket: { ...socket, ...nodes[0] } })
}

/** For Redis 5 and newer, and for Valkey: without questions that only some of them know. */
const commonOptions = {
  disableOfflineQueue: true,
  disableClientInfo: true,
  maintNotifications: 'disabled',
} satisfies RedisClientOptions

const socketOptions = ({ usesTls }: RedisAddress, timeoutMs: number) => ({
  connectTimeout: timeoutMs,
  reconnectStrategy: false as const,
  ...(usesTls ? { tls: true as const } : {}),
})

const credentialsOf = (username: string | null, password: string | null) => ({
  ...(username === null ? {} : { username }),
  ...(password === null ? {} : { password }),
})
