/** Only what was sent in this time counts for the speed. */
const windowMs = 8000
/** A speed from a shorter time says little. */
const minSpanMs = 1000

/** Measures how fast bytes are sent, over the last seconds. */
export function createPace() {
  let samples: { at: number; bytes: number }[] = []
  const recent = (now: number) => samples.filter(({ at }) => at > now - windowMs)
  return {
    /** Counts bytes that were sent since the last call. */
    add(bytes: number, now: number): void {
      if (bytes > 0) samples = [...recent(now), { at: now, bytes }]
    },

    /** Returns the bytes per second; null while too little is known. */
    bytesPerSecond(now: number): number | null {
      const [first, ...others] = recent(now)
      if (!first || now - first.at < minSpanMs) return null
      // The first sample was sent before its time, outside the span.
      const bytes = others.reduce((sum, sample) => sum + sample.bytes, 0)
      return bytes === 0 ? null : (bytes * 1000) / (now - first.at)
    },
  }
}
