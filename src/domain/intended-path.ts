/** Characters of a wanted page, at most. */
const longest = 2000

/**
 * Where somebody goes once he is signed in, as a path of the panel at `panelUrl` with query and fragment; null for
 * what leads to another host or is no page for him. The application holds passwords and passkeys to the same rule.
 */
export function intendedPath(panelUrl: string, wanted: string): string | null {
  if (!wanted.startsWith('/') || wanted.length > longest) return null
  // Read as the browser will: `//host`, `/\host` and `/<tab>/host` lead elsewhere.
  const { origin } = new URL(panelUrl)
  const address = URL.parse(wanted, origin)
  if (address?.origin !== origin || address.pathname.startsWith('/auth/')) return null
  const path = address.pathname + address.search + address.hash
  // `/.//host` is our own, but the path that is left of it is not.
  return path.startsWith('//') ? null : path
}
