import type { Context } from 'hono'
import { type BodyPace, documentPace, filePace, readAtPace, readWithin, SlowBodyError } from '../body-pace.ts'
import { badRequest, incompleteBody, payloadTooLarge, requestTimeout } from '../errors.ts'
import { isSafeMethod } from './csrf.ts'
import type { HttpEnv } from './http-env.ts'

/**
 * Reads the body. Refuses with 413 above `limit` bytes and with 408 below the pace, reading no further, and with 400 when
 * the client hangs up. Spec: docs/limits.md#slow-requests.
 */
export async function readBytes(
  { body }: Pick<Request, 'body'>,
  limit: number,
  pace: BodyPace = documentPace,
): Promise<Uint8Array<ArrayBuffer>> {
  if (!body) return new Uint8Array()
  const chunks: Uint8Array<ArrayBuffer>[] = []
  let size = 0
  for await (const chunk of receive(body, pace)) {
    size += chunk.byteLength
    if (size > limit) throw payloadTooLarge(limit)
    chunks.push(chunk)
  }
  return concatenate(chunks, size)
}

/** Yields the chunks of a file that is the whole body, as `readBytes` reads it, without keeping any of it. */
export async function* receiveFile({ body }: Pick<Request, 'body'>): AsyncGenerator<Uint8Array> {
  if (body) yield* receive(body, filePace)
}

/** Yields the chunks of a body. Whatever interrupts it comes from the client, so it is a refusal and no failure. */
async function* receive(body: ReadableStream<Uint8Array<ArrayBuffer>>, pace: BodyPace) {
  try {
    yield* readAtPace(body, pace)
  } catch (error) {
    throw error instanceof SlowBodyError ? requestTimeout() : incompleteBody(error)
  }
}

function concatenate(chunks: Uint8Array<ArrayBuffer>[], size: number): Uint8Array<ArrayBuffer> {
  const [first] = chunks
  if (chunks.length === 1 && first) return first
  const whole = new Uint8Array(size)
  let offset = 0
  for (const chunk of chunks) {
    whole.set(chunk, offset)
    offset += chunk.byteLength
  }
  return whole
}

/**
 * Reads the body as text and keeps it, so that it can be read again; once kept, an empty body reads as `{}`.
 * Refuses with 413 above `limit` bytes.
 */
export async function bufferBody(c: Context, limit: number): Promise<string> {
  if (c.req.bodyCache.text !== undefined) return c.req.text()
  const text = await readText(c, limit)
  // Hono keeps promises here, whatever its type says.
  Object.assign(c.req.bodyCache, { text: Promise.resolve(text.trim() === '' ? '{}' : text) })
  return text
}

/** Reads the body as text: at once when it is announced not to exceed the limit, which is much cheaper. */
async function readText(c: Context, limit: number): Promise<string> {
  const announced = c.req.header('content-length') ?? ''
  const isShort = /^\d+$/.test(announced) && Number(announced) <= limit
  if (!isShort || isSafeMethod(c.req.method))
    return new TextDecoder().decode(await readBytes({ body: bodyOf(c) }, limit))
  const text = await readWithin(c.req.raw.text(), documentPace.totalMs).catch((error: unknown) => {
    throw error instanceof SlowBodyError ? requestTimeout() : incompleteBody(error)
  })
  // Who lies about the length is told the same.
  if (text.length > limit) throw payloadTooLarge(limit)
  return text
}

/** Returns the body, also that of a `GET` where the platform keeps it beside the request. */
function bodyOf(c: Context): Request['body'] {
  if (c.req.raw.body || !isSafeMethod(c.req.method)) return c.req.raw.body
  return (c.get('bodyOfGet') as HttpEnv['Variables']['bodyOfGet'])?.() ?? null
}

/** Whether the request says that its body is JSON. */
export const isDeclaredJson = (c: Context): boolean =>
  /^\s*application\/([\w.-]+\+)?json\s*(;|$)/i.test(c.req.header('content-type') ?? '')

/** Whether the request says that its body is in the format. */
export function isDeclaredAs(c: Context, { type, synonyms }: BodyFormat): boolean {
  const [declared = ''] = (c.req.header('content-type') ?? '').split(';')
  return [type, ...synonyms].includes(declared.trim().toLowerCase())
}

/** Parses JSON; no text is an empty object. Refuses what is not JSON with 400. */
export function parseJson(text: string): unknown {
  try {
    return text.trim() === '' ? {} : JSON.parse(text)
  } catch {
    throw badRequest('request_malformed', 'The request is not valid JSON.')
  }
}

/** A format beside JSON: its media type, synonyms of it, and its parser. */
export type BodyFormat = { type: string; synonyms: string[]; parse: (text: string) => Promise<unknown> }

/**
 * Reads the body as it was sent, whatever its type. Refuses with 413 above `limit` bytes, and with 400 a body
 * that is declared as JSON and is not: the client sent something else than it meant to.
 */
export async function readRawBody(c: Context, limit: number): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = await readBytes(c.req.raw, limit, filePace)
  if (isDeclaredJson(c) && bytes.byteLength > 0 && !isJson(bytes)) {
    throw badRequest(
      'request_malformed',
      'The request is declared as JSON and is not. Send text as text/plain.',
    )
  }
  return bytes
}

function isJson(bytes: Uint8Array): boolean {
  try {
    JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    return true
  } catch {
    return false
  }
}
