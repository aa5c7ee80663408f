import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Answer } from './answers.ts'
import { answerOf } from './answers.ts'

export type RawRequest = {
  headers?: Record<string, string>
  /** Sent with any method, GET too. */
  body?: string
  /** Address of this machine from which the request comes. */
  from?: string
}

/** Sends a request exactly as it is written: the path is not brought into a plain form, Host may be any. */
export async function sendRaw(
  server: URL,
  method: string,
  path: string,
  options: RawRequest,
): Promise<Answer> {
  const { headers = {}, body, from } = options
  const outgoing = request({
    host: server.hostname,
    port: server.port,
    method,
    path,
    headers: { ...headers, ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }) },
    ...(from ? { localAddress: from } : {}),
    agent: false,
  })
  outgoing.end(body)
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage]
  return answerFrom(incoming.statusCode ?? 0, incoming.headersDistinct, await text(incoming))
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
