/** The page somebody wanted before he was asked to sign in: a path of ours and no page for guests, else the start. */
export function intendedPath(wanted: unknown): string {
  if (typeof wanted !== 'string' || !wanted.startsWith('/')) return '/'
  // Read as the browser will: `//host`, `/\host` and `/<tab>/host` lead elsewhere.
  const address = URL.parse(wanted, location.origin)
  if (address?.origin !== location.origin || address.pathname.startsWith('/auth/')) return '/'
  const path = address.pathname + address.search + address.hash
  // `/.//host` is our own, but the path that is left of it is not.
  return path.startsWith('//') ? '/' : path
}
