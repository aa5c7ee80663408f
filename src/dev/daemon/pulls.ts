import { randomUUID } from 'node:crypto'
import { lookup } from 'node:dns'
import http, { type IncomingMessage } from 'node:http'
import https from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { basename } from 'node:path'
import { pipeline } from 'node:stream/promises'
import ipaddr from 'ipaddr.js'
import type { Daemon } from './daemon.ts'
import type { GameServer, Pull } from './game-server.ts'
import { describeError } from './panel-client.ts'
import { openForWriting, volumeOf, type Volume } from './server-files.ts'
import { cleanPath } from './server-paths.ts'

/** A file to fetch. Its name is taken from the header with `useHeader`, else from `fileName`, else from the URL. */
export type PullRequest = { url: URL; directory: string; fileName: string; useHeader: boolean }

const pullTimeoutMs = 12 * 60 * 60_000

/**
 * Starts to fetch a file; `ended` gives its path and rejects for a redirect, a response without a length and an
 * address that is not public. What was written before a failure is kept. Wings: POST …/files/pull
 */
export function startPull(daemon: Daemon, server: GameServer, request: PullRequest): Pull {
  const cancellation = new AbortController()
  const signal = AbortSignal.any([cancellation.signal, AbortSignal.timeout(pullTimeoutMs)])
  const pull: Pull = {
    identifier: randomUUID(),
    progress: 0,
    cancel: () => cancellation.abort(),
    ended: Promise.resolve(''),
  }
  server.pulls.set(pull.identifier, pull)
  const fetched = openUrl(request.url, daemon.settings.allowLocalPulls, signal).then((answer) =>
    saveResponse(volumeOf(daemon, server), request, answer, pull, signal),
  )
  pull.ended = fetched.finally(() => server.pulls.delete(pull.identifier))
  pull.ended.catch((error: unknown) => daemon.log(`${server.uuid}: a pull failed: ${describeError(error)}`))
  return pull
}

/** Cancels all pulls of the server. Resolves when they have ended. */
export async function cancelPulls(server: GameServer): Promise<void> {
  const pulls = [...server.pulls.values()]
  for (const pull of pulls) pull.cancel()
  await Promise.allSettled(pulls.map((pull) => pull.ended))
}

async function saveResponse(
  volume: Volume,
  request: PullRequest,
  answer: IncomingMessage,
  pull: Pull,
  signal: AbortSignal,
): Promise<string> {
  try {
    const length = Number(answer.headers['content-length'] ?? 0)
    if (answer.statusCode !== 200) throw new Error(`the URL answered with status ${answer.statusCode}`)
    if (length === 0) throw new Error('the response has no length')
    const path = cleanPath(request.directory, readFileName(request, answer))
    const file = await openForWriting(volume, path)
    let received = 0
    const count = async function* (chunks: AsyncIterable<Buffer>) {
      for await (const chunk of chunks) {
        received += chunk.length
        pull.progress = received / length
        yield chunk
      }
    }
    await pipeline(answer, count, file.createWriteStream(), { signal })
    return path
  } finally {
    answer.destroy()
  }
}

function readFileName({ url, fileName, useHeader }: PullRequest, answer: IncomingMessage): string {
  const header = answer.headers['content-disposition'] ?? ''
  const [, quoted, plain] = /;\s*filename=(?:"([^"]*)"|([^\s;]+))/i.exec(header) ?? []
  const named = useHeader ? basename(quoted ?? plain ?? '') : ''
  return named || fileName || decodeURIComponent(url.pathname.split('/').at(-1) ?? '')
}

/** Sends a GET request and gives the response; redirects are not followed. */
function openUrl(url: URL, allowLocal: boolean, signal: AbortSignal): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    reject(new Error(`the protocol ${url.protocol} is not supported`))
  else if (!allowLocal && isIP(host) !== 0 && !isPublic(host)) reject(new Error(`${host} is not public`))
  else {
    const { get } = url.protocol === 'https:' ? https : http
    const headers = { 'User-Agent': 'Pterodactyl Panel (https://pterodactyl.io)' }
    get(url, { agent: false, signal, headers, ...(allowLocal ? {} : { lookup: lookUpPublic }) }, resolve).on(
      'error',
      reject,
    )
  }
  return promise
}

/** Resolves a name when connecting and refuses private addresses, so that it cannot change after the check. */
const lookUpPublic: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    const [first] = addresses ?? []
    if (error || !first) return callback(error ?? new Error(`${hostname} has no address`), '')
    if (!addresses.every(({ address }) => isPublic(address))) {
      return callback(new Error(`${hostname} is not public`), '')
    }
    return options.all ? callback(null, addresses) : callback(null, first.address, first.family)
  })
}

const isPublic = (address: string) => ipaddr.process(address).range() === 'unicast'
