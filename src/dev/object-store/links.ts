import { createHmac, timingSafeEqual } from 'node:crypto'
import { RequestError } from './request-error.ts'

export type LinkOptions = {
  /** The address of the store, with a path and without a slash at its end. */
  url: string
  secret: string
  /** Milliseconds since 1970. */
  now: () => number
}

/** What a link is for: `PUT` sends a part, `GET` reads an object, for which `HEAD` is good too. */
export type LinkMethod = 'GET' | 'PUT'

/** A request whose link is valid: the object it names and the parameters that were signed with it. */
export type VerifiedLink = { method: LinkMethod; key: string; params: URLSearchParams }

/**
 * Signs a link by which anyone may send this request for `seconds`. Method, key and parameters are signed; the host
 * is not, so that a link works under every name of the panel.
 */
export function signLink(
  { url, secret, now }: LinkOptions,
  method: LinkMethod,
  key: string,
  seconds: number,
  params: Record<string, string> = {},
): string {
  const link = new URL(`${url}/${key.split('/').map(encodeURIComponent).join('/')}`)
  const expires = String(Math.floor(now() / 1000) + seconds)
  link.search = new URLSearchParams({ ...params, expires }).toString()
  link.searchParams.set('signature', sign(secret, method, key, link.searchParams))
  return link.href
}

/** Verifies the link of a request. Refuses with 403 one that was not signed here or has expired. */
export function verifyLink({ url, secret, now }: LinkOptions, request: Request): VerifiedLink {
  const { pathname, searchParams } = new URL(request.url)
  const key = decodePath(pathname.slice(new URL(url).pathname.length + 1))
  const method = request.method === 'PUT' ? 'PUT' : 'GET'
  const given = Buffer.from(searchParams.get('signature') ?? '')
  searchParams.delete('signature')
  const expected = Buffer.from(sign(secret, method, key, searchParams))
  const isAllowed = ['GET', 'HEAD', 'PUT'].includes(request.method)
  if (!isAllowed || given.length !== expected.length || !timingSafeEqual(given, expected)) {
    throw new RequestError(403, 'The signature does not match this request.')
  }
  if (now() > Number(searchParams.get('expires')) * 1000) throw new RequestError(403, 'The link has expired.')
  return { method, key, params: searchParams }
}

function sign(secret: string, method: LinkMethod, key: string, params: URLSearchParams): string {
  return createHmac('sha256', secret)
    .update(JSON.stringify([method, key, [...params]]))
    .digest('hex')
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    throw new RequestError(400, 'The path is not valid UTF-8.')
  }
}
