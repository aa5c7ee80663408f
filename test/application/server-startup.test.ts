import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { eggVariables, jobs, servers } from '../../src/db/schema.ts'
import { makeApplicationToken, makeEgg, makeNode, makeServer } from '../support/factories.ts'
import { useStubDaemon } from '../support/stub-daemon.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
const daemon = useStubDaemon()
let token: string
let egg: Awaited<ReturnType<typeof makeEgg>>
let server: Awaited<ReturnType<typeof makeServer>>

beforeEach(async () => {
  token = await makeApplicationToken(world)
  egg = await makeEgg(world)
  const node = await makeNode(world, { daemonListen: daemon.port })
  server = await makeServer(world, { node, egg, variables: { MOTD: 'Old', STALE: 'kept' } })
})

const change = (changes: object = {}, query = '', id = server.id) =>
  world.request('PATCH', `/api/application/servers/${id}/startup${query}`, {
    token,
    body: { ...input(), ...changes },
  })
const input = () => ({
  startup: 'node other.mjs',
  environment: { MOTD: 'Hi' } as object,
  egg: egg.id,
  image: 'node:25-alpine',
  skip_scripts: false,
})
const without = (name: string) => change({ [name]: undefined })
const rule = (answer: { body: any }) =>
  answer.body.errors.map((error: any) => [error.meta?.source_field, error.meta?.rule])
const rowOf = async () => (await world.database.db.select().from(servers).where(eq(servers.id, server.id)))[0]
const addVariable = (eggId: number, envVariable: string, rules: string) =>
  world.database.db.insert(eggVariables).values({ eggId, name: envVariable, envVariable, rules })

describe('changing how a server is started', () => {
  it('answers with the server as it is then, and does not bother its daemon', async () => {
    const { status, body } = await change({ skip_scripts: true }, '?include=variables')
    expect(status).toBe(200)
    expect(body.attributes).toMatchObject({
      egg: egg.id,
      nest: egg.nestId,
      container: {
        startup_command: 'node other.mjs',
        image: 'node:25-alpine',
        environment: { MOTD: 'Hi', STARTUP: 'node other.mjs' },
      },
    })
    expect(body.attributes.relationships.variables.data[0].attributes.server_value).toBe('Hi')
    expect(await rowOf()).toMatchObject({ skipScripts: true, variables: { MOTD: 'Hi' } })
    expect(daemon.calls).toEqual([])
    expect(await world.database.db.select().from(jobs)).toEqual([])
  })

  it('takes back what integrations read, with the variables of the panel in it', async () => {
    const { body } = await world.request('GET', `/api/application/servers/${server.id}`, { token })
    const { environment } = body.attributes.container
    expect(environment).toMatchObject({ P_SERVER_UUID: server.uuid, P_SERVER_ALLOCATION_LIMIT: null })
    expect((await change({ environment: { ...environment, MOTD: 'New' } })).status).toBe(200)
    expect((await rowOf())?.variables).toEqual({ MOTD: 'New' })
    expect((await rowOf())?.startup).toBe('node other.mjs')
  })

  it('needs every field, and says which one is wrong', async () => {
    const before = await rowOf()
    expect(rule(await without('startup'))).toEqual([['startup', 'required']])
    expect(rule(await without('environment'))).toEqual([['environment', 'present']])
    expect(rule(await without('egg'))).toEqual([['egg', 'required']])
    expect(rule(await without('image'))).toEqual([['image', 'required']])
    expect(rule(await without('skip_scripts'))).toEqual([['skip_scripts', 'present']])
    expect(rule(await change({ image: 'bad$image', skip_scripts: 'yes', egg: 1.5 }))).toEqual([
      ['egg', 'integer'],
      ['image', 'regex'],
      ['skip_scripts', 'boolean'],
    ])
    expect(rule(await change({ image: 'node:24\nRUN x' }))).toEqual([['image', 'regex']])
    expect(rule(await change({ egg: 999_999 }))).toEqual([['egg', 'exists']])
    expect(await rowOf()).toEqual(before)
    expect((await change({}, '', 999_999)).status).toBe(404)
  })

  it('takes booleans and ids in every spelling', async () => {
    for (const skip of [true, 1, '1', 'true']) {
      expect((await change({ skip_scripts: skip, egg: String(egg.id) })).status).toBe(200)
      expect((await rowOf())?.skipScripts).toBe(true)
      await change()
    }
  })

  it('holds the environment to every rule of the egg, of variables users may not edit as well', async () => {
    await addVariable(egg.id, 'SLOTS', 'required|integer|max:10')
    expect(rule(await change({ environment: { MOTD: 'x'.repeat(65), SLOTS: '11' } }))).toEqual([
      ['environment.MOTD', 'max'],
      ['environment.SLOTS', 'max'],
    ])
    expect(rule(await change())).toEqual([['environment.SLOTS', 'required']])
    expect((await change({ environment: { MOTD: 'Hi', SLOTS: 7 } })).status).toBe(200)
    expect((await rowOf())?.variables).toEqual({ MOTD: 'Hi', SLOTS: '7' })
  })

  it('empties values that are left out of an environment, where the egg allows that', async () => {
    await addVariable(egg.id, 'SEED', 'nullable|string')
    await change({ environment: { MOTD: 'Hi', SEED: '42' } })
    await change({ environment: { MOTD: 'Ho' } })
    expect((await rowOf())?.variables).toEqual({ MOTD: 'Ho', SEED: '' })
  })

  it('leaves the values when the environment is empty, in either spelling', async () => {
    for (const environment of [{}, []]) {
      expect((await change({ environment })).status).toBe(200)
      expect((await rowOf())?.variables).toEqual({ MOTD: 'Old', STALE: 'kept' })
    }
  })
})

describe('another egg', () => {
  it('brings its nest and its variables along', async () => {
    const other = await makeEgg(world)
    await addVariable(other.id, 'WORLD', 'required|string')
    expect(rule(await change({ egg: other.id }))).toEqual([['environment.WORLD', 'required']])
    const { body } = await change({ egg: other.id, environment: { MOTD: 'Hi', WORLD: 'w', STALE: 'x' } })
    expect(body.attributes).toMatchObject({ egg: other.id, nest: other.nestId })
    expect((await rowOf())?.variables).toEqual({ MOTD: 'Hi', WORLD: 'w' })
  })

  it('keeps the values of names it has, when no environment comes with it', async () => {
    const other = await makeEgg(world)
    await change({ egg: other.id, environment: {} })
    expect((await rowOf())?.variables).toEqual({ MOTD: 'Old' })
  })
})
