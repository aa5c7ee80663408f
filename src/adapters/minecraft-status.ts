import type { GameAnswer } from './game-query.ts'

/** A connection as the web knows streams: what Node and Workers have in common. */
export type ByteStream = {
  readable: ReadableStream<Uint8Array>
  writable: WritableStream<Uint8Array>
}

/** Connects by TCP, or throws. The connection ends with the signal. */
export type OpenStream = (address: { host: string; port: number }, signal: AbortSignal) => Promise<ByteStream>

/** Bytes of a status, which may hold a picture; whoever sends more is no game. */
const longestStatus = 256 * 1024
/** The version is of no account for the status: any server answers any. */
const protocolVersion = 47
const statusState = 1

/**
 * Who plays on a server of Minecraft's Java Edition, by its status protocol: handshake, request, one JSON text.
 * `offline` when nothing comes within `patience` milliseconds, `failed` when it is no status.
 */
export async function askMinecraft(
  open: OpenStream,
  address: { host: string; port: number },
  patience: number,
): Promise<GameAnswer> {
  const ending = new AbortController()
  const timer = setTimeout(() => ending.abort(), patience)
  let received = 0
  try {
    const { readable, writable } = await open(address, ending.signal)
    await send(writable, statusRequest(address))
    const status = await readStatus(readable, (bytes) => void (received += bytes))
    const { players } = status as { players?: { online?: unknown; max?: unknown } }
    return { status: 'online', players: headcount(players?.online), maxPlayers: headcount(players?.max) }
  } catch {
    return { status: received > 0 ? 'failed' : 'offline' }
  } finally {
    clearTimeout(timer)
    ending.abort()
  }
}

/** A number of people as a game tells it: null when it is none that can be. */
export const headcount = (value: unknown): number | null =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 2_147_483_647 ? value : null

async function send(writable: WritableStream<Uint8Array>, bytes: Uint8Array): Promise<void> {
  const writer = writable.getWriter()
  await writer.write(bytes)
  writer.releaseLock()
}

function statusRequest({ host, port }: { host: string; port: number }): Uint8Array {
  const name = new TextEncoder().encode(host)
  const handshake = [
    ...varInt(protocolVersion),
    ...varInt(name.byteLength),
    ...name,
    port >> 8,
    port & 0xff,
    ...varInt(statusState),
  ]
  return Uint8Array.from([...packet(0, handshake), ...packet(0, [])])
}

const packet = (id: number, content: number[]) => {
  const body = [...varInt(id), ...content]
  return [...varInt(body.length), ...body]
}

/** Seven bits a byte, the lowest first. */
function varInt(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varInt(value >>> 7)]
}

/** The JSON of the one packet that comes. Throws when it is too long, breaks off or is something else. */
async function readStatus(
  readable: ReadableStream<Uint8Array>,
  onBytes: (bytes: number) => void,
): Promise<object> {
  const reader = readable.getReader()
  let bytes = new Uint8Array()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) throw new Error('The answer broke off.')
    onBytes(value.byteLength)
    const longer = new Uint8Array(bytes.byteLength + value.byteLength)
    longer.set(bytes)
    longer.set(value, bytes.byteLength)
    bytes = longer
    const status = statusIn(bytes)
    if (status !== null) return status
    if (bytes.byteLength > longestStatus) throw new Error('The answer is too long.')
  }
}

/** The status in what has come so far, null while more must come. */
function statusIn(bytes: Uint8Array): object | null {
  const length = readVarInt(bytes, 0)
  if (!length) return null
  if (length.value > longestStatus) throw new Error('The answer is too long.')
  if (bytes.byteLength < length.end + length.value) return null
  const body = bytes.subarray(length.end, length.end + length.value)
  const id = readVarInt(body, 0)
  const size = id && readVarInt(body, id.end)
  if (id?.value !== 0 || !size || size.end + size.value > body.byteLength)
    throw new Error('The answer is no status.')
  const status: unknown = JSON.parse(new TextDecoder().decode(body.subarray(size.end, size.end + size.value)))
  if (typeof status !== 'object' || status === null) throw new Error('The answer is no status.')
  return status
}

function readVarInt(bytes: Uint8Array, start: number): { value: number; end: number } | null {
  let value = 0
  for (let at = 0; at < 5; at += 1) {
    const byte = bytes[start + at]
    if (byte === undefined) return null
    value += (byte & 0x7f) * 2 ** (7 * at)
    if (byte < 0x80) return { value, end: start + at + 1 }
  }
  throw new Error('The answer is no packet.')
}
