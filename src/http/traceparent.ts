const form = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/

/** Of the flags, those that are defined: sampled, and made at random. */
const knownFlags = 3

/** The place of a request in somebody's trace; `header` is what is passed on to whom we call. */
export type Trace = { id: string; header: string }

/**
 * What the `traceparent` of a request says, or null where there is none that is valid. The panel adds no span of
 * its own, so others stand below the caller's. W3C Trace Context, levels 1 and 2.
 */
export function readTrace(header: string | undefined): Trace | null {
  const match = form.exec(header?.trim() ?? '')
  if (!match) return null
  const [, version, id = '', parent, flags = '', rest] = match
  if (version === '00' && rest !== undefined) return null
  const kept = (Number.parseInt(flags, 16) & knownFlags).toString(16).padStart(2, '0')
  return { id, header: `00-${id}-${parent}-${kept}` }
}
