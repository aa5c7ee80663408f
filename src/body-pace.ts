/** How fast a body has to come; milliseconds. */
export type BodyPace = {
  /** For the whole body. */
  totalMs?: number
  /** Between two pieces of the body. */
  idleMs?: number
  /** On average, after `graceMs`. */
  minBytesPerSecond?: number
  graceMs?: number
}

/** A small document, which any connection sends within a minute. */
export const documentPace = { totalMs: 60_000 } satisfies BodyPace

/** A file, which can take its time as long as it moves on. */
export const filePace: BodyPace = { idleMs: 30_000, minBytesPerSecond: 16 * 1024, graceMs: 60_000 }

/** The body came more slowly than its pace. */
export class SlowBodyError extends Error {
  constructor() {
    super('The request body was sent too slowly.')
    this.name = 'SlowBodyError'
  }
}

/**
 * Yields the chunks of a body as they come. Throws a `SlowBodyError` when they come more slowly than the pace, and
 * cancels the rest of a body that is not read to its end.
 */
export async function* readAtPace<Chunk extends Uint8Array>(
  body: ReadableStream<Chunk>,
  pace: BodyPace,
): AsyncGenerator<Chunk> {
  const reader = body.getReader()
  const startedAt = Date.now()
  let size = 0
  try {
    for (;;) {
      const { done, value } = await readWithin(reader.read(), maxWaitMs(pace, Date.now() - startedAt))
      if (done) return
      size += value.byteLength
      if (isTooSlow(pace, Date.now() - startedAt, size)) throw new SlowBodyError()
      yield value
    }
  } finally {
    // Not awaited: the client may never send the rest.
    reader.cancel().catch(() => undefined)
  }
}

/** Returns the milliseconds for the next chunk, `elapsedMs` after the beginning. */
const maxWaitMs = ({ totalMs = Infinity, idleMs = Infinity }: BodyPace, elapsedMs: number): number =>
  Math.min(totalMs - elapsedMs, idleMs)

/** Whether a body is below its rate that has sent `size` bytes in `elapsedMs`. */
const isTooSlow = (
  { minBytesPerSecond = 0, graceMs = 0 }: BodyPace,
  elapsedMs: number,
  size: number,
): boolean => elapsedMs > graceMs && size < (minBytesPerSecond * elapsedMs) / 1000

/** Waits for what is read for so many milliseconds, and throws a `SlowBodyError` after them. */
export async function readWithin<Result>(reading: Promise<Result>, waitMs: number): Promise<Result> {
  const { promise: timedOut, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new SlowBodyError()), Math.max(0, waitMs))
  try {
    return await Promise.race([reading, timedOut])
  } finally {
    clearTimeout(timer)
  }
}
