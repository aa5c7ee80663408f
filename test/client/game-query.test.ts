import { eq, sql } from 'drizzle-orm'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { type GameTarget, gameQuery } from '../../src/adapters/game-query.ts'
import { queryWithGamedig } from '../../src/adapters/gamedig.ts'
import { allocations, gameQueries, jobs, nodes, servers } from '../../src/db/schema.ts'
import { openNodeStream } from '../../src/platform/node-game-query.ts'
import { testEgress } from '../support/egress.ts'
import {
  makeClientToken,
  makeEgg,
  makeNode,
  makeServer,
  makeSubuser,
  makeUser,
} from '../support/factories.ts'
import {
  type StubGame,
  startBedrockStub,
  startMinecraftStub,
  startSourceStub,
  textPacket,
  varInt,
} from '../support/stub-games.ts'
import { startStubDaemon } from '../support/stub-daemon.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
const open: StubGame[] = []
let owner: Awaited<ReturnType<typeof makeUser>>
let token: string

beforeEach(async () => {
  owner = await makeUser(world)
  token = await makeClientToken(world, owner)
})
afterEach(async () => {
  await Promise.all(open.splice(0).map((game) => game.close()))
})

const keep = <Game extends StubGame>(game: Game) => {
  open.push(game)
  return game
}
const minecraft = async (...pieces: (Buffer | null)[]) => keep(await startMinecraftStub(() => pieces))
const saying = (status: unknown) => textPacket(JSON.stringify(status))

/** Makes a server of an egg with these hints, whose primary allocation is this port of the loopback interface. */
async function serverOn(port: number, egg: Parameters<typeof makeEgg>[1] = { features: ['eula'] }) {
  const node = await makeNode(world)
  const server = await makeServer(world, { owner, node, egg: await makeEgg(world, egg) })
  const primary = eq(allocations.id, server.allocationId)
  await world.database.db.update(allocations).set({ ip: '127.0.0.1', port }).where(primary)
  return { server, node }
}

const ask = (server: { uuid: string }, as = token) =>
  world.request('GET', `/api/client/servers/${server.uuid}/query`, { token: as })
const attributesOf = async (server: { uuid: string }) => (await ask(server)).body.attributes

/** Ends the query of a silent game after so many milliseconds; after the default when left out. */
function waitNoLongerThan(milliseconds?: number): void {
  const queryOthers = (target: GameTarget) => queryWithGamedig(target, milliseconds)
  Object.assign(world.panel, { gameQuery: gameQuery(openNodeStream(testEgress), queryOthers, milliseconds) })
}

/** What the players after the first query. */
async function learned(server: { uuid: string }) {
  await ask(server)
  await world.runJobs()
  return attributesOf(server)
}

describe('the players of a game', () => {
  it('is pending at first, and then what the game says', async () => {
    const game = await minecraft(saying({ players: { online: 7, max: 20 }, description: '<b>' }))
    const { server } = await serverOn(game.port)
    expect((await ask(server)).body).toEqual({
      object: 'game_query',
      attributes: { status: 'pending', players: null, max_players: null, checked_at: null, game: '' },
      meta: { version: null, player_names: [] },
    })
    await world.runJobs()
    expect(await attributesOf(server)).toEqual({
      status: 'online',
      players: 7,
      max_players: 20,
      checked_at: `${world.clock.now.toISOString().slice(0, 19)}+00:00`,
      game: 'minecraft',
    })
    expect(game.queries).toBe(1)
  })

  it('is told in pieces too, and at length', async () => {
    const packet = saying({ favicon: 'x'.repeat(60_000), players: { online: 0, max: 20 } })
    const game = await minecraft(packet.subarray(0, 1), packet.subarray(1, 30_000), packet.subarray(30_000))
    const { server } = await serverOn(game.port)
    expect(await learned(server)).toMatchObject({ status: 'online', players: 0, max_players: 20 })
  })

  it('is told over UDP by games that speak that', async () => {
    const game = keep(await startSourceStub(12, 50))
    const { server } = await serverOn(game.port, { queryGame: 'rust' })
    expect(await learned(server)).toMatchObject({
      status: 'online',
      players: 12,
      max_players: 50,
      game: 'rust',
    })
  })

  it('is told by the Bedrock Edition with its version, and without names', async () => {
    const game = keep(await startBedrockStub(4, 30))
    const { server } = await serverOn(game.port, { name: 'Bedrock', startup: './bedrock_server' })
    expect(await learned(server)).toMatchObject({
      status: 'online',
      players: 4,
      max_players: 30,
      game: 'mbe',
    })
    expect((await ask(server)).body.meta).toEqual({ version: '1.21.84', player_names: [] })
  })

  it('has names and the version where the game tells them, as text without colours', async () => {
    const sample = [
      { name: '§aalice' },
      { name: ' bob\u0000\u202E' },
      { name: 'bob' },
      { name: '§l' },
      { name: 7 },
      null,
      { name: '<i>carol</i>' },
      { name: 'x'.repeat(200) },
    ]
    const status = { players: { online: 7, max: 20, sample }, version: { name: '§cPaper 1.21.4\n' } }
    const { server } = await serverOn((await minecraft(saying(status))).port)
    await learned(server)
    expect((await ask(server)).body.meta).toEqual({
      version: 'Paper 1.21.4',
      player_names: ['alice', 'bob', '<i>carol</i>', 'x'.repeat(64)],
    })
    const many = Array.from({ length: 150 }, (_, at) => ({ name: `p${at}` }))
    const crowd = await serverOn((await minecraft(saying({ players: { sample: many }, version: 7 }))).port)
    await learned(crowd.server)
    const { meta } = (await ask(crowd.server)).body
    expect([meta.version, meta.player_names.length]).toEqual([null, 100])
    const rust = await serverOn(keep(await startSourceStub(12, 50)).port, { queryGame: 'rust' })
    await learned(rust.server)
    const { version, player_names } = (await ask(rust.server)).body.meta
    expect([version, player_names.toSorted()]).toEqual(['1.0.0.0', ['alice', 'bob']])
  })

  it('is told where the list of names makes no sense', async () => {
    const odd = Buffer.from([0x44, 9, 0])
    const { server } = await serverOn(keep(await startSourceStub(12, 50, null, odd)).port, {
      queryGame: 'rust',
    })
    expect(await learned(server)).toMatchObject({ status: 'online', players: 12 })
    expect((await ask(server)).body.meta.player_names).toEqual([])
  })

  it('is asked on the port above where the game answers there and the port is its own', async () => {
    const game = keep(await startSourceStub(3, 10))
    const { server, node } = await serverOn(game.port - 1, { queryGame: 'valheim' })
    waitNoLongerThan(300)
    expect(await learned(server)).toMatchObject({ status: 'offline', players: null })
    expect(game.queries).toBe(0)
    waitNoLongerThan()
    await world.database.db
      .insert(allocations)
      .values({ nodeId: node.id, ip: '127.0.0.1', port: game.port, serverId: server.id })
    world.clock.advance(31)
    expect(await learned(server)).toMatchObject({ status: 'online', players: 3, max_players: 10 })
  })

  it('is unknown, not zero, where the game does not report players', async () => {
    for (const players of [undefined, null, 7, {}, { online: -1, max: 1.5 }, { online: '7' }]) {
      const { server } = await serverOn((await minecraft(saying({ players }))).port)
      expect(await learned(server)).toMatchObject({ status: 'online', players: null, max_players: null })
    }
  })

  it('is unknown where nothing answers', async () => {
    const closed = await minecraft()
    await closed.close()
    open.length = 0
    waitNoLongerThan(300)
    for (const hints of [{ features: ['eula'] }, { queryGame: 'rust' }]) {
      const { server } = await serverOn(closed.port, hints)
      expect(await learned(server)).toMatchObject({ status: 'offline', players: null, max_players: null })
    }
    const { server } = await serverOn((await minecraft(null)).port)
    expect(await learned(server)).toMatchObject({ status: 'offline', players: null })
  })

  it('is unknown where the answer makes no sense', async () => {
    const answers = [
      Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'),
      textPacket('not JSON'),
      textPacket('7'),
      textPacket('null'),
      Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff, 0xff]),
      Buffer.concat([varInt(300_000), Buffer.alloc(10)]),
      Buffer.concat([varInt(3), Buffer.from([1, 1, 65])]),
      Buffer.concat([varInt(3), Buffer.from([0, 9, 65])]),
    ]
    for (const answer of answers) {
      const { server } = await serverOn((await minecraft(answer, null)).port)
      expect(await learned(server), answer.toString('latin1')).toMatchObject({
        status: 'failed',
        players: null,
        max_players: null,
      })
    }
    for (const rest of [[0x49], [0x49, 17, 65, 0, 66, 0], [], [0x00]]) {
      const odd = keep(await startSourceStub(1, 1, Buffer.from([0xff, 0xff, 0xff, 0xff, ...rest])))
      const { server } = await serverOn(odd.port, { queryGame: 'rust' })
      expect(await learned(server)).toMatchObject({ players: null, max_players: null })
    }
  })

  it('replaces what was known before, be it good or bad', async () => {
    const game = await startMinecraftStub(() => [saying({ players: { online: 7, max: 20 } })])
    const { server } = await serverOn(game.port)
    expect(await learned(server)).toMatchObject({ status: 'online', players: 7 })
    await game.close()
    world.clock.advance(31)
    expect(await learned(server)).toMatchObject({ status: 'offline', players: null, max_players: null })
    expect((await ask(server)).body.meta).toEqual({ version: null, player_names: [] })
  })

  it('times out after some seconds without a response', async () => {
    const { server } = await serverOn((await minecraft()).port)
    waitNoLongerThan(300)
    expect(await learned(server)).toMatchObject({ status: 'offline', players: null })
  })

  it('is not queried for unknown games, or for games with another query address', async () => {
    const game = await minecraft(saying({}))
    for (const [hints, named] of [
      [{ name: 'Mystery', features: null }, ''],
      [{ queryGame: 'nosuchgame' }, 'nosuchgame'],
      [{ queryGame: 'constructor' }, 'constructor'],
      [{ queryGame: 'discord' }, 'discord'],
      [{ queryGame: 'gta5f' }, 'gta5f'],
    ] as const) {
      const { server } = await serverOn(game.port, { ...hints })
      expect(await learned(server)).toMatchObject({ status: 'unsupported', players: null, game: named })
    }
    expect(game.queries).toBe(0)
  })

  it('takes the features of the egg from which the egg takes its configuration', async () => {
    const game = await minecraft(saying({ players: { online: 1, max: 2 } }))
    const parent = await makeEgg(world, { features: ['eula'] })
    const { server } = await serverOn(game.port, {
      features: null,
      configFrom: parent.id,
      nestId: parent.nestId,
    })
    expect(await learned(server)).toMatchObject({ status: 'online', players: 1 })
  })
})

describe('the query', () => {
  const waiting = async () =>
    (await world.database.db.select().from(jobs)).filter(({ name }) => name === 'query-game')

  it('is sent once in half a minute, for all callers', async () => {
    const game = await minecraft(saying({ players: { online: 7, max: 20 } }))
    const { server } = await serverOn(game.port)
    await Promise.all(Array.from({ length: 10 }, () => ask(server)))
    expect(await waiting()).toHaveLength(1)
    expect(world.messages).toHaveLength(1)
    expect(await world.runJobs()).toBe(1)
    world.clock.advance(29)
    await ask(server)
    expect(await world.runJobs()).toBe(0)
    world.clock.advance(2)
    await Promise.all(Array.from({ length: 10 }, () => ask(server)))
    expect(await world.runJobs()).toBe(1)
    expect(game.queries).toBe(2)
  })

  it('does not block: the response is sent while the query is running', async () => {
    const { server } = await serverOn((await minecraft()).port)
    expect((await ask(server)).body.attributes.status).toBe('pending')
    world.clock.advance(31)
    await ask(server)
    expect(await waiting()).toHaveLength(1)
  })

  it('costs one statement beside that of the credential, whatever is known', async () => {
    const { server } = await serverOn(1)
    for (const seconds of [0, 1, 40]) {
      world.clock.advance(seconds)
      expect(await world.countStatements(() => ask(server))).toBe(2)
    }
  })

  it('is open to every user with access to the server, while its state allows action', async () => {
    const { server } = await serverOn(1)
    const friend = await makeUser(world)
    await makeSubuser(world, server, friend, [])
    expect((await ask(server, await makeClientToken(world, friend))).status).toBe(200)
    expect((await ask(server, await makeClientToken(world, await makeUser(world)))).status).toBe(404)
    await world.database.db.update(servers).set({ status: 'suspended' })
    expect((await ask(server)).status).toBe(409)
  })

  it('goes where the administrator of the node says', async () => {
    const game = await minecraft(saying({ players: { online: 7, max: 20 } }))
    const { server, node } = await serverOn(game.port)
    await world.database.db.update(allocations).set({ ip: '192.0.2.77' })
    await world.database.db.update(nodes).set({ queryAddress: 'localhost' }).where(eq(nodes.id, node.id))
    expect(await learned(server)).toMatchObject({ status: 'online', players: 7 })
  })

  it('comes from a list that is shown, for what runs there, once in five minutes', async () => {
    const daemon = await startStubDaemon()
    onTestFinished(() => daemon.close())
    const game = await minecraft(saying({ players: { online: 7, max: 20 } }))
    const { server, node } = await serverOn(game.port)
    const idle = await makeServer(world, { owner, node })
    await world.database.db
      .update(nodes)
      .set({ daemonListen: daemon.port, scheme: 'http', fqdn: '127.0.0.1' })
    daemon.respond({
      json: [server, idle].map(({ uuid }) => ({
        state: uuid === server.uuid ? 'running' : 'offline',
        configuration: { uuid },
      })),
    })
    const show = async () => {
      const path = `/api/client/servers/resources?servers=${server.uuid},${idle.uuid}`
      expect((await world.request('GET', path, { token })).status).toBe(200)
      await expect.poll(async () => (await world.database.db.select().from(gameQueries)).length).toBe(1)
    }
    await show()
    expect(await world.runJobs()).toBe(1)
    expect(game.queries).toBe(1)
    const list = async () => (await world.request('GET', '/api/client/servers', { token })).body.data
    expect((await list())[0].attributes.players).toEqual({ online: 7, max: 20, version: null })
    world.clock.advance(290)
    await show()
    expect(await world.runJobs()).toBe(0)
    world.clock.advance(20)
    await show()
    await expect.poll(async () => [await world.runJobs(), game.queries].at(1)).toBe(2)
  })

  it('comes to nothing once the server is gone', async () => {
    const { server } = await serverOn(1)
    await ask(server)
    await world.database.db.execute(sql`set session_replication_role = replica`)
    await world.database.db.delete(gameQueries)
    await world.database.db.execute(sql`set session_replication_role = default`)
    expect(await world.runJobs()).toBe(1)
    expect(await world.database.db.select().from(gameQueries)).toEqual([])
  })
})
