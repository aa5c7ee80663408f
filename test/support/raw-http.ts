import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { isIP } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { Answer } from './answers.ts'
import { answerOf } from './answers.ts'

export type RawRequest = {
  /** Several values are sent as headers of their own. */
  headers?: Record<string, string | string[]>
  /** Sent with any method, GET too. */
  body?: string | Uint8Array
  /** Address of this machine from which the request comes. */
  from?: string
}

/** An answer with its body as it came. */
export type RawAnswer = Answer & { bytes: Buffer }

/** Sends a request exactly as it is written: the path is not brought into a plain form, Host may be any. */
export async function sendRaw(
  server: URL,
  method: string,
  path: string,
  options: RawRequest,
): Promise<RawAnswer> {
  const { headers = {}, body, from } = options
  const outgoing = request({
    host: server.hostname,
    port: server.port,
    method,
    path,
    headers: { ...headers, ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }) },
    ...(from ? { localAddress: from, family: isIP(from) } : {}),
    agent: false,
  })
  outgoing.end(body)
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage]
  // Whoever has answered need not read the rest of a body.
  outgoing.on('error', () => undefined)
  const bytes = await buffer(incoming)
  const answer = await answerFrom(incoming.statusCode ?? 0, incoming.headersDistinct, bytes.toString())
  return { ...answer, bytes }
}

/** An answer as tests read it, from whatever form it came in. */
export function answerFrom(
  status: number,
  headers: Record<string, string | string[] | undefined>,
  body: string,
): Promise<Answer> {
  const entries = Object.entries(headers).flatMap(([name, values]) =>
    [values ?? []].flat().map((value): [string, string] => [name, value]),
  )
  return answerOf(new Response(body === '' ? null : body, { status, headers: entries }))
}
