import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import type { AddressInfo } from 'node:net'

export type StubGame = {
  port: number
  /** The number of queries. */
  readonly queries: number
  close: () => Promise<void>
}

/** Encodes a number as seven bits a byte. */
export const varInt = (value: number): Buffer =>
  value < 0x80
    ? Buffer.from([value])
    : Buffer.concat([Buffer.from([(value & 0x7f) | 0x80]), varInt(value >>> 7)])

/** Builds a packet of Minecraft's protocol that contains one text. */
export function textPacket(text: string): Buffer {
  const content = Buffer.from(text)
  const body = Buffer.concat([varInt(0), varInt(content.byteLength), content])
  return Buffer.concat([varInt(body.byteLength), body])
}

/** Starts a server that waits for the handshake and the status request, then sends these pieces; null ends the connection. */
export async function startMinecraftStub(pieces: () => (Buffer | null)[]): Promise<StubGame> {
  let queries = 0
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    let received = Buffer.alloc(0)
    socket.on('error', () => undefined)
    socket.on('close', () => sockets.delete(socket))
    socket.on('data', (data: Buffer) => {
      received = Buffer.concat([received, data])
      const isWhole = received.byteLength >= 2 && received.subarray(-2).equals(Buffer.from([1, 0]))
      if (!isWhole) return
      queries += 1
      void sendSlowly(socket, pieces())
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    get queries() {
      return queries
    },
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function sendSlowly(socket: Socket, pieces: (Buffer | null)[]): Promise<void> {
  for (const piece of pieces) {
    if (piece === null) socket.end()
    else socket.write(piece)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

/**
 * Starts a game server of Valve's Source protocol on UDP, which first sends a challenge; `answer` replaces its response,
 * and `names` that to the question for players.
 */
export async function startSourceStub(
  players: number,
  places: number,
  answer: Buffer | null = null,
  names: Buffer = sourcePlayers(['alice', 'bob']),
): Promise<StubGame> {
  let queries = 0
  const socket = createSocket('udp4')
  const challenge = Buffer.from([1, 2, 3, 4])
  socket.on('message', (message, from) => {
    queries += 1
    const isInfo = message[4] === 0x54
    const isChallenged = message.subarray(-4).equals(challenge)
    const head = Buffer.from([0xff, 0xff, 0xff, 0xff])
    const reply = isChallenged ? null : Buffer.concat([head, Buffer.from([0x41]), challenge])
    socket.send(
      reply ?? answer ?? Buffer.concat([head, isInfo ? sourceInfo(players, places) : names]),
      from.port,
      from.address,
    )
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return {
    port: socket.address().port,
    get queries() {
      return queries
    },
    close: async () => {
      await new Promise<void>((resolve) => socket.close(resolve))
    },
  }
}

/** Starts a game server of Minecraft's Bedrock Edition: RakNet on UDP, whose pong has one text of fields. */
export async function startBedrockStub(players: number, places: number): Promise<StubGame> {
  let queries = 0
  const socket = createSocket('udp4')
  const magic = Buffer.from('00ffff00fefefefefdfdfdfd12345678', 'hex')
  socket.on('message', (message, from) => {
    const isPing = message[0] === 0x01 && message.subarray(9, 25).equals(magic)
    if (!isPing) return
    queries += 1
    const fields = ['MCPE', 'Dedicated Server', 800, '1.21.84', players, places, '1234567', 'Bedrock level']
    const text = Buffer.from(`${[...fields, 'Survival', 1, 19_132, 19_133].join(';')};`)
    const length = Buffer.alloc(2)
    length.writeUInt16BE(text.byteLength)
    const pong = [Buffer.from([0x1c]), message.subarray(1, 9), Buffer.alloc(8, 3), magic, length, text]
    socket.send(Buffer.concat(pong), from.port, from.address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return {
    port: socket.address().port,
    get queries() {
      return queries
    },
    close: async () => {
      await new Promise<void>((resolve) => socket.close(resolve))
    },
  }
}

function sourceInfo(players: number, places: number): Buffer {
  const text = (value: string) => Buffer.from(`${value}\0`)
  return Buffer.concat([
    Buffer.from([0x49, 17]),
    text('<script>alert(1)</script>'),
    text('a_map'),
    text('rust'),
    text('A game'),
    Buffer.from([0, 0, players, places, 0]),
    Buffer.from('dl'),
    Buffer.from([0, 1]),
    text('1.0.0.0'),
    Buffer.from([0]),
  ])
}

/** Builds the answer to the question for players. */
export const sourcePlayers = (names: string[]): Buffer =>
  Buffer.concat([
    Buffer.from([0x44, names.length]),
    ...names.map((name) => Buffer.concat([Buffer.from([0]), Buffer.from(`${name}\0`), Buffer.alloc(8)])),
  ])
