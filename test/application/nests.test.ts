import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { eggs } from '../../src/db/schema.ts'
import { makeApplicationToken, makeEgg, makeServer } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
let token: string

beforeEach(async () => {
  token = await makeApplicationToken(world)
})

const path = '/api/application/nests'
const get = (at: string, key = token) => world.request('GET', `${path}${at}`, { token: key })
const nothing = { object: 'null_resource', attributes: null }

describe('nests', () => {
  it('are listed in pages and shown', async () => {
    const egg = await makeEgg(world)
    await makeEgg(world)
    const { body } = await get('?per_page=1&page=2&sort=name')
    expect(body.meta.pagination).toMatchObject({ total: 2, count: 1, total_pages: 2 })
    const nest = await get(`/${egg.nestId}`)
    expect(nest.body).toEqual({
      object: 'nest',
      attributes: {
        id: egg.nestId,
        uuid: expect.any(String),
        author: 'eggs@example.test',
        name: expect.stringContaining('Nest'),
        description: null,
        created_at: expect.any(String),
        updated_at: expect.any(String),
      },
    })
    expect((await get('?page=5')).body).toMatchObject({ data: [], meta: { pagination: { total: 2 } } })
  })

  it('bring their relations along in one statement, as far as the key may read them', async () => {
    const egg = await makeEgg(world)
    const server = await makeServer(world, { egg })
    const include = '?include=eggs.variables,servers.egg'
    for (const at of [include, `/${egg.nestId}${include}`]) {
      let answer: any
      expect(await world.countStatements(async () => (answer = await get(at)))).toBe(2)
      const { relationships } = (answer.body.data?.[0] ?? answer.body).attributes
      const [shown] = relationships.eggs.data
      expect(shown.attributes.relationships.variables.data[0].attributes.env_variable).toBe('MOTD')
      expect(relationships.servers.data[0].attributes).toMatchObject({
        uuid: server.uuid,
        relationships: { egg: { attributes: { uuid: egg.uuid } } },
      })
    }
    const poor = await makeApplicationToken(world, { nests: 1 })
    const denied = await get(`/${egg.nestId}${include}`, poor)
    expect(denied.body.attributes.relationships).toEqual({ eggs: nothing, servers: nothing })
  })

  it('need the level of their resource', async () => {
    const { nestId, id } = await makeEgg(world)
    const nestReader = await makeApplicationToken(world, { nests: 1 })
    const eggReader = await makeApplicationToken(world, { eggs: 1 })
    const statuses = async (at: string) => [
      (await get(at, nestReader)).status,
      (await get(at, eggReader)).status,
    ]
    expect(await statuses('')).toEqual([200, 403])
    expect(await statuses(`/${nestId}`)).toEqual([200, 403])
    expect(await statuses(`/${nestId}/eggs`)).toEqual([403, 200])
    expect(await statuses(`/${nestId}/eggs/${id}`)).toEqual([403, 200])
  })
})

describe('eggs of a nest', () => {
  it('are listed without pages, in one statement with their variables', async () => {
    const first = await makeEgg(world)
    const second = await makeEgg(world, { nestId: first.nestId })
    await makeEgg(world)
    let answer: any
    const at = `/${first.nestId}/eggs?include=variables,nest`
    expect(await world.countStatements(async () => (answer = await get(at)))).toBe(2)
    expect(Object.keys(answer.body).toSorted()).toEqual(['data', 'object'])
    expect(answer.body.data.map((item: any) => item.attributes.id)).toEqual([first.id, second.id])
    const { relationships } = answer.body.data[1].attributes
    expect(relationships.nest.attributes.id).toBe(first.nestId)
    expect(relationships.variables.data[0]).toMatchObject({
      object: 'egg_variable',
      attributes: { env_variable: 'MOTD', rules: 'required|string|max:64', egg_id: second.id },
    })
  })

  it('are shown as the ecosystem knows them', async () => {
    const egg = await makeEgg(world, { dockerImages: { New: 'node:24', Old: 'node:22' } })
    const { body } = await get(`/${egg.nestId}/eggs/${egg.id}`)
    expect(body.attributes).toMatchObject({
      id: egg.id,
      nest: egg.nestId,
      docker_image: 'node:24',
      docker_images: { New: 'node:24', Old: 'node:22' },
      config: {
        files: {},
        startup: { done: 'ready' },
        stop: 'stop',
        logs: [],
        file_denylist: [],
        extends: null,
      },
      script: { privileged: true, install: 'echo installed', entry: 'ash', extends: null },
    })
  })

  it('show with what they inherit behind their includes', async () => {
    const parent = await makeEgg(world, {
      configStop: '^C',
      scriptInstall: 'echo parent',
      scriptEntry: 'bash',
    })
    const child = await makeEgg(world, {
      nestId: parent.nestId,
      configFrom: parent.id,
      copyScriptFrom: parent.id,
      configStop: null,
      configStartup: { done: 'own' },
      scriptInstall: null,
    })
    const at = (id: number) => `/${parent.nestId}/eggs/${id}?include=config,script,servers`
    let answer: any
    expect(await world.countStatements(async () => (answer = await get(at(child.id))))).toBe(2)
    const { config, relationships } = answer.body.attributes
    expect(config).toMatchObject({ stop: null, extends: parent.id })
    expect(relationships.config.attributes).toEqual({
      files: {},
      startup: { done: 'own' },
      stop: '^C',
      logs: [],
    })
    expect(relationships.script.attributes).toMatchObject({ install: 'echo parent', entry: 'bash' })
    const own = await get(at(parent.id))
    expect(own.body.attributes.relationships).toMatchObject({ config: nothing, script: nothing })
  })

  it('are null resources where the key may not read a relation', async () => {
    const egg = await makeEgg(world)
    const poor = await makeApplicationToken(world, { eggs: 1 })
    const { body } = await get(`/${egg.nestId}/eggs/${egg.id}?include=nest,servers,variables`, poor)
    expect(body.attributes.relationships).toMatchObject({
      nest: nothing,
      servers: nothing,
      variables: { object: 'list' },
    })
  })

  it('are found in their own nest only', async () => {
    const egg = await makeEgg(world)
    const other = await makeEgg(world)
    expect((await get(`/${egg.nestId}/eggs/${other.id}`)).status).toBe(404)
    await world.database.db.delete(eggs).where(eq(eggs.id, other.id))
    expect((await get(`/${other.nestId}/eggs`)).body.data).toEqual([])
    for (const id of ['999', '0', '2147483648', 'x']) {
      expect((await get(`/${id}`)).status).toBe(404)
      expect((await get(`/${id}/eggs`)).status).toBe(404)
      expect((await get(`/${egg.nestId}/eggs/${id}`)).status).toBe(404)
      expect((await get(`/${id}/eggs/${egg.id}`)).status).toBe(404)
    }
  })
})
