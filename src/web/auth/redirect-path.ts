/** Returns where to go after sign-in: `intended` if it is a path of the panel and no guest page, else `/`. */
export function safeRedirectPath(intended: unknown): string {
  if (typeof intended !== 'string' || !intended.startsWith('/')) return '/'
  // Parsed as the browser does: `//host`, `/\host` and `/<tab>/host` lead to other sites.
  const address = URL.parse(intended, location.origin)
  if (address?.origin !== location.origin || address.pathname.startsWith('/auth/')) return '/'
  const path = address.pathname + address.search + address.hash
  // `/.//host` is on this site, but its pathname alone would lead elsewhere.
  return path.startsWith('//') ? '/' : path
}
