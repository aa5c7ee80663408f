import type { Context } from 'hono'
import { badRequest } from '../errors.ts'
import { readBytes } from './json-body.ts'

/**
 * The bytes of the body as they were sent, whatever they are. Refuses with 413 above `limit` bytes, and with
 * 400 what is said to be JSON and is not: somebody sent something else than he meant to.
 */
export async function readRawBody(c: Context, limit: number): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = await readBytes(c.req.raw, limit)
  const isSaidToBeJson = /^application\/(\S+\+)?json\b/i.test(c.req.header('content-type') ?? '')
  if (isSaidToBeJson && bytes.byteLength > 0 && !isJson(bytes)) {
    throw badRequest('The request is said to be JSON and is not. Send text as text/plain.')
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
