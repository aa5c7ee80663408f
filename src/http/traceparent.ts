const traceparentPattern =
  /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/

/** The defined flags: sampled, and random. */
const knownFlagsMask = 3

/** The trace that a request belongs to; `header` and `state` are passed on to external services. */
export type Trace = {
  id: string
  header: string
  /** What systems before this one have added about the trace, `tracestate`; null without anything. */
  state: string | null
}

/** Characters of a `tracestate` that a system has to pass on, and entries that it may have. */
const maxState = { characters: 512, entries: 32 }
const stateEntryPattern = /^[a-z0-9][a-z0-9_\-*/@]{0,255}=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{1,256}$/

/**
 * Parses the headers `traceparent` and `tracestate` of a request; null when the first is missing or invalid. The panel adds
 * no span of its own: calls it makes are children of the caller's span. Source: W3C Trace Context, levels 1 and 2.
 */
export function readTrace(header: string | undefined, state?: string): Trace | null {
  const match = traceparentPattern.exec(header?.trim() ?? '')
  if (!match) return null
  const [, version, id = '', parent, flags = '', suffix] = match
  if (version === '00' && suffix !== undefined) return null
  const flagsHex = (Number.parseInt(flags, 16) & knownFlagsMask).toString(16).padStart(2, '0')
  return { id, header: `00-${id}-${parent}-${flagsHex}`, state: readState(state) }
}

/** Returns a `tracestate` as it is passed on; null for one that is invalid or too long. */
function readState(header = ''): string | null {
  const entries = header.split(',').map((entry) => entry.trim())
  const named = entries.filter(Boolean)
  const text = named.join(',')
  const isValid =
    named.length > 0 &&
    named.length <= maxState.entries &&
    text.length <= maxState.characters &&
    named.every((entry) => stateEntryPattern.test(entry))
  return isValid ? text : null
}
