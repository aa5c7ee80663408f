/** Characters of a path. */
const maxPathLength = 2000

/**
 * Resolves the page to open after signing in to a path of the panel, with query and fragment. Returns null
 * for an address on another host and for pages below `/auth/`. The web application applies the same rule to
 * passwords and passkeys.
 */
export function resolveIntendedPath(panelUrl: string, requestedPath: string): string | null {
  if (!requestedPath.startsWith('/') || requestedPath.length > maxPathLength) return null
  // Parsed as a browser parses it: `//host`, `/\host` and `/<tab>/host` lead to another host.
  const { origin } = new URL(panelUrl)
  const address = URL.parse(requestedPath, origin)
  if (address?.origin !== origin || address.pathname.startsWith('/auth/')) return null
  const path = address.pathname + address.search + address.hash
  // `/.//host` has our origin, but its normalized path begins with `//` and would lead elsewhere.
  return path.startsWith('//') ? null : path
}
