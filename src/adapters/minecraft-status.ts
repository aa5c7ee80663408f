import type { GameQueryResult } from './game-query.ts'
import { reportedNames, reportedVersion } from './reported-text.ts'

/** A connection as web streams, which Node and Workers have in common. */
export type ByteStream = {
  readable: ReadableStream<Uint8Array>
  writable: WritableStream<Uint8Array>
}

/** Opens a TCP connection, which the signal closes. Throws when it fails. */
export type OpenStream = (address: { host: string; port: number }, signal: AbortSignal) => Promise<ByteStream>

/** Maximum size of a status, which may contain an icon. */
const maxStatusBytes = 256 * 1024
/** Servers answer status requests of any version. */
const protocolVersion = 47
const statusState = 1

/**
 * Queries the players of a Minecraft server (Java Edition) with the status protocol: handshake, request, one JSON text.
 * `offline` when no byte arrives within `timeoutMs`, `failed` when the answer is not a valid status.
 */
export async function queryMinecraft(
  openStream: OpenStream,
  address: { host: string; port: number },
  timeoutMs: number,
): Promise<GameQueryResult> {
  const abortController = new AbortController()
  const timer = setTimeout(() => abortController.abort(), timeoutMs)
  let received = 0
  try {
    const { readable, writable } = await openStream(address, abortController.signal)
    await writeBytes(writable, statusRequest(address))
    const status = await readStatus(readable, (bytes) => void (received += bytes))
    const { players, version } = status as {
      players?: { online?: unknown; max?: unknown; sample?: unknown }
      version?: { name?: unknown }
    }
    return {
      status: 'online',
      players: playerCount(players?.online),
      maxPlayers: playerCount(players?.max),
      version: reportedVersion(version?.name),
      playerNames: reportedNames(players?.sample),
    }
  } catch {
    return { status: received > 0 ? 'failed' : 'offline' }
  } finally {
    clearTimeout(timer)
    abortController.abort()
  }
}

/** Returns a number of players as a game reports it, or null when it is invalid. */
export const playerCount = (value: unknown): number | null =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 2_147_483_647 ? value : null

async function writeBytes(writable: WritableStream<Uint8Array>, bytes: Uint8Array): Promise<void> {
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

/** Encodes a number with seven bits per byte, the lowest first. */
function varInt(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varInt(value >>> 7)]
}

/** Reads the JSON of the status packet. Throws when it is too long, incomplete or invalid. */
async function readStatus(
  readable: ReadableStream<Uint8Array>,
  onBytes: (bytes: number) => void,
): Promise<object> {
  const reader = readable.getReader()
  let bytes = new Uint8Array()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) throw new Error('The answer is incomplete.')
    onBytes(value.byteLength)
    const joined = new Uint8Array(bytes.byteLength + value.byteLength)
    joined.set(bytes)
    joined.set(value, bytes.byteLength)
    bytes = joined
    const status = parseStatus(bytes)
    if (status !== null) return status
    if (bytes.byteLength > maxStatusBytes) throw new Error('The answer is too long.')
  }
}

/** Parses the status from the bytes so far; null while it is incomplete. */
function parseStatus(bytes: Uint8Array): object | null {
  const length = readVarInt(bytes, 0)
  if (!length) return null
  if (length.value > maxStatusBytes) throw new Error('The answer is too long.')
  if (bytes.byteLength < length.end + length.value) return null
  const body = bytes.subarray(length.end, length.end + length.value)
  const id = readVarInt(body, 0)
  const size = id && readVarInt(body, id.end)
  if (id?.value !== 0 || !size || size.end + size.value > body.byteLength)
    throw new Error('The answer is not a status.')
  const status: unknown = JSON.parse(new TextDecoder().decode(body.subarray(size.end, size.end + size.value)))
  if (typeof status !== 'object' || status === null) throw new Error('The answer is not a status.')
  return status
}

function readVarInt(bytes: Uint8Array, start: number): { value: number; end: number } | null {
  let value = 0
  for (let index = 0; index < 5; index += 1) {
    const byte = bytes[start + index]
    if (byte === undefined) return null
    value += (byte & 0x7f) * 2 ** (7 * index)
    if (byte < 0x80) return { value, end: start + index + 1 }
  }
  throw new Error('The answer is not a packet.')
}
