/** The look-ups by external id, in which an encoded slash is a part of the id. */
const externalIdPath = /^\/api\/application\/(?:servers|users)\/external\/([^/]+)$/

/**
 * Tells whether proxies and routers may read a path differently: empty segments, backslashes, encoded slashes and NUL
 * (NW-5). An external id may have slashes between other text: decoded or not, such a path leads to the same route.
 */
export function isAmbiguousPath(path: string): boolean {
  if (/\/\/|\\|%5c|%00/i.test(path)) return true
  if (!/%2f/i.test(path)) return false
  const [, id] = externalIdPath.exec(path) ?? []
  return id === undefined || id.split(/%2f/i).some((segment) => /^(?:\.|%2e){0,2}$/i.test(segment))
}

/** Returns the path and query of an absolute URL as they were sent, still encoded. */
export const requestTarget = (url: string): string => url.slice(url.indexOf('/', url.indexOf('://') + 3))

/** Returns the path of an absolute URL as it was sent, still encoded. */
export function encodedPath(url: string): string {
  const target = requestTarget(url)
  const end = target.search(/[?#]/)
  return end === -1 ? target : target.slice(0, end)
}
