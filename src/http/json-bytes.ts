/** Writes an answer as bytes, from texts that are JSON already. */
export type JsonBytes = {
  text: (text: string) => void
  finish: () => Uint8Array<ArrayBuffer>
}

const encoder = new TextEncoder()
/** Bytes that a unit of UTF-16 takes in UTF-8, at most. */
const maxUnitBytes = 3
/** Length from which texts are encoded: each call takes as long as to join many short ones. */
const maxJoinedLength = 4096

/** Creates a writer with room for about so many bytes. A text of the whole answer would be copied three times to be sent. */
export function jsonBytes(expectedBytes: number): JsonBytes {
  let buffer = takeBuffer(expectedBytes)
  let length = 0
  let joined = ''
  const encode = () => {
    const needed = length + joined.length * maxUnitBytes
    if (needed > buffer.length) {
      const larger = takeBuffer(2 * needed)
      larger.set(buffer.subarray(0, length))
      releaseBytes(buffer)
      buffer = larger
    }
    length += encoder.encodeInto(joined, buffer.subarray(length)).written
    joined = ''
  }
  return {
    text: (value) => {
      joined += value
      if (joined.length >= maxJoinedLength) encode()
    },
    finish: () => {
      encode()
      return buffer.subarray(0, length)
    },
  }
}

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
