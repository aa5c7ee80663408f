import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { isIP } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { Answer } from './answers.ts'
import { answerOf } from './answers.ts'

export type RawRequest = {
  /** Several values are sent as separate headers. */
  headers?: Record<string, string | string[]>
  /** Sent with any method, GET too. */
  body?: string | Uint8Array
  /** The local address from which the request is sent. */
  from?: string
}

/** A response with its raw body. */
export type RawAnswer = Answer & { bytes: Buffer }

/** Sends a request exactly as given: the path is not normalised, Host may be any. */
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
  // A server that has responded need not read the rest of the body.
  outgoing.on('error', () => undefined)
  const bytes = await buffer(incoming)
  const answer = await answerFrom(incoming.statusCode ?? 0, incoming.headersDistinct, bytes.toString())
  return { ...answer, bytes }
}

/** Builds an answer from status, headers and body. */
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
