/** Writes an answer as bytes, from texts that are JSON already. */
export type JsonBytes = {
  text: (text: string) => void
  /** Adds text that `encodeText` has encoded, which costs a copy. */
  encoded: (bytes: Uint8Array) => void
  finish: () => Uint8Array<ArrayBuffer>
}

const encoder = new TextEncoder()

/** Encodes text that many answers have in common. */
export const encodeText = (text: string): Uint8Array => encoder.encode(text)

/** Bytes that a unit of UTF-16 takes in UTF-8, at most. */
const maxUnitBytes = 3
/** Length from which a text is encoded by itself: to encode takes as long as to join many short ones. */
const minSingleLength = 1024

/** Creates a writer with room for about so many bytes. A text of the whole answer would be copied three times to be sent. */
export function jsonBytes(expectedBytes: number): JsonBytes {
  let buffer = takeBuffer(expectedBytes)
  let length = 0
  let joined = ''
  const makeRoom = (bytes: number) => {
    const needed = length + bytes
    if (needed <= buffer.length) return
    const larger = takeBuffer(2 * needed)
    larger.set(buffer.subarray(0, length))
    releaseBytes(buffer)
    buffer = larger
  }
  const encode = () => {
    makeRoom(joined.length * maxUnitBytes)
    length =
      writeAscii(joined, buffer, length) ??
      length + encoder.encodeInto(joined, buffer.subarray(length)).written
    joined = ''
  }
  return {
    text: (value) => {
      if (value.length >= minSingleLength && joined !== '') encode()
      joined += value
      if (joined.length >= minSingleLength) encode()
    },
    encoded: (bytes) => {
      if (joined !== '') encode()
      makeRoom(bytes.length)
      buffer.set(bytes, length)
      length += bytes.length
    },
    finish: () => {
      encode()
      return buffer.subarray(0, length)
    },
  }
}

/** Writes a short text of ASCII alone, for which the encoder takes longer, and returns where it ends; null for others. */
function writeAscii(text: string, buffer: Uint8Array, start: number): number | null {
  if (text.length > maxLoopLength) return null
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code > 127) return null
    buffer[start + at] = code
  }
  return start + text.length
}
const maxLoopLength = 40

/** Buffers whose answers are sent. New ones for each would make V8 collect all garbage every fifty lists. */
const freeBuffers: ArrayBuffer[] = []
/** Buffers of answers that are not sent yet. */
const lentBuffers = new WeakSet<ArrayBuffer>()
const maxFreeBuffers = 16
/** Sizes of buffers that are used again. */
const reusedBytes = { min: 65_536, max: 1_048_576 }

function takeBuffer(bytes: number): Uint8Array<ArrayBuffer> {
  if (bytes < reusedBytes.min || bytes > reusedBytes.max) return new Uint8Array(bytes)
  const at = freeBuffers.findLastIndex(({ byteLength }) => byteLength >= bytes)
  const [free = new ArrayBuffer(bytes)] = at === -1 ? [] : freeBuffers.splice(at, 1)
  lentBuffers.add(free)
  return new Uint8Array(free)
}

/** Lets another answer have the bytes of `finish` once they are sent; others stay as they are. */
export function releaseBytes({ buffer }: Uint8Array<ArrayBuffer>): void {
  if (lentBuffers.delete(buffer) && freeBuffers.length < maxFreeBuffers) freeBuffers.push(buffer)
}
