const traceparentPattern =
  /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/

/** The defined flags: sampled, and random. */
const knownFlagsMask = 3

/** The trace that a request belongs to; `header` is passed on to external services. */
export type Trace = { id: string; header: string }

/**
 * Parses the `traceparent` header of a request; null when it is missing or invalid. The panel adds no span of its
 * own: calls it makes are children of the caller's span. Source: W3C Trace Context, levels 1 and 2.
 */
export function readTrace(header: string | undefined): Trace | null {
  const match = traceparentPattern.exec(header?.trim() ?? '')
  if (!match) return null
  const [, version, id = '', parent, flags = '', suffix] = match
  if (version === '00' && suffix !== undefined) return null
  const flagsHex = (Number.parseInt(flags, 16) & knownFlagsMask).toString(16).padStart(2, '0')
  return { id, header: `00-${id}-${parent}-${flagsHex}` }
}
