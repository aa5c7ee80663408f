import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { connectRedis, type Reply, type SendCommand } from './redis-client.ts'

export const testRedisUrl = process.env.TEST_REDIS_URL ?? 'redis://127.0.0.1:6379'

/** Checks that a real Redis responds; prints when suites are skipped. */
export async function findRedis(suite: string): Promise<boolean> {
  const redis = await connectRedis(testRedisUrl).catch(() => null)
  if (redis) redis.close()
  else console.log(`SKIPPED ${suite}: no Redis at ${new URL(testRedisUrl).host}.`)
  return redis !== null
}

export type UpstashStandIn = { url: string; token: string; close: () => Promise<void> }

/** Speaks Upstash's REST protocol in front of Redis, or of a map of this process where none answers. */
export async function startUpstash(): Promise<UpstashStandIn> {
  const redis = await connectRedis(testRedisUrl).catch(() => {
    console.log(`No Redis at ${testRedisUrl}: the Upstash stand-in keeps its keys in memory.`)
    return { send: commandsInMemory(), close: () => undefined }
  })
  return serveRest(withOwnKeys(redis.send), redis.close)
}

/** Speaks Upstash's REST protocol in front of one Redis, with its own keys. */
export async function startUpstashOver(url: string): Promise<UpstashStandIn> {
  const redis = await connectRedis(url)
  return serveRest(redis.send, redis.close)
}

async function serveRest(send: SendCommand, closeRedis: () => void): Promise<UpstashStandIn> {
  const token = 'token-of-the-tests'
  const server = createServer((request, response) => {
    void (async () => {
      const isAllowed = request.headers.authorization === `Bearer ${token}`
      const [status, body] = isAllowed ? [200, await answer(send, request)] : [401, { error: 'Unauthorized' }]
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    })()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      closeRedis()
    },
  }
}

/** Prefixes the keys of each stub, so that parallel suites share no counters. */
function withOwnKeys(send: SendCommand): SendCommand {
  const prefix = `roost-test:${crypto.randomUUID()}:`
  return ([name, key, ...rest]) =>
    send(key === undefined ? [name] : [name, `${prefix}${String(key)}`, ...rest])
}

/** Handles `/` with one command, `/pipeline` with several, `/multi-exec` with several as one transaction. */
async function answer(send: SendCommand, request: IncomingMessage): Promise<unknown> {
  const isEncoded = request.headers['upstash-encoding'] === 'base64'
  const body = (await json(request)) as unknown[]
  if (request.url === '/') return wrap(await send(body), isEncoded)
  const commands = body as unknown[][]
  if (request.url === '/multi-exec') {
    const replies = await Promise.all([['MULTI'], ...commands, ['EXEC']].map(send))
    return (replies.at(-1) as Reply[]).map((reply) => wrap(reply, isEncoded))
  }
  return (await Promise.all(commands.map(send))).map((reply) => wrap(reply, isEncoded))
}

const wrap = (reply: Reply, isEncoded: boolean) =>
  reply instanceof Error ? { error: reply.message } : { result: isEncoded ? encode(reply) : reply }

function encode(reply: Reply): unknown {
  if (Array.isArray(reply)) return reply.map(encode)
  return typeof reply === 'string' && reply !== 'OK' ? Buffer.from(reply).toString('base64') : reply
}

/** The commands that the cache uses. */
function commandsInMemory(): SendCommand {
  const entries = new Map<string, { value: string; expiresAt: number }>()
  let queued: Reply[] | null = null
  const read = (key: string) => {
    const entry = entries.get(key)
    return entry && entry.expiresAt > Date.now() ? entry : null
  }
  const commands: Record<string, (key: string, ...rest: string[]) => Reply> = {
    ping: () => 'PONG',
    get: (key) => read(key)?.value ?? null,
    del: (key) => Number(entries.delete(key)),
    incr: (key) => {
      const value = Number(read(key)?.value ?? 0) + 1
      entries.set(key, { value: String(value), expiresAt: read(key)?.expiresAt ?? Infinity })
      return value
    },
    ttl: (key) => Math.ceil(((read(key)?.expiresAt ?? Date.now() - 2000) - Date.now()) / 1000),
    set: (key, value = '', ...words) => {
      const options = words.map((word) => word.toLowerCase())
      if (options.includes('nx') && read(key)) return null
      const seconds = Number(words[options.indexOf('ex') + 1])
      entries.set(key, { value, expiresAt: Date.now() + seconds * 1000 })
      return 'OK'
    },
  }
  return async (words) => {
    const [name = '', key = '', ...rest] = words.map(String)
    if (name === 'MULTI') return ((queued = []), 'OK')
    if (name === 'EXEC') {
      const replies = queued ?? []
      queued = null
      return replies
    }
    const reply = commands[name.toLowerCase()]?.(key, ...rest) ?? null
    queued?.push(reply)
    return reply
  }
}
