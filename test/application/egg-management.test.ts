import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { eggs, eggVariables, nests, servers } from '../../src/db/schema.ts'
import { pelican, pterodactyl, variable } from '../domain/egg-documents.ts'
import { makeApplicationToken, makeEgg, makeServer } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
let token: string

beforeEach(async () => {
  token = await makeApplicationToken(world)
})

const base = '/api/application/nests'
const send = (method: string, at: string, body?: unknown) =>
  world.request(method, `${base}${at}`, body === undefined ? { token } : { token, body })
const rules = (answer: { body: any }) =>
  answer.body.errors.map(({ meta }: any) => `${meta.source_field}: ${meta.rule}`)

async function addNest() {
  const { body } = await send('POST', '', { name: 'Games' })
  return body.attributes.id as number
}

const written = {
  name: 'Plain',
  docker_images: { 'Java 21': 'ghcr.io/acme/java:21', 'Java 17': '~local/java:17' },
  startup: 'java -jar {{SERVER_JARFILE}}',
  config_files: { 'motd.txt': { parser: 'file', find: { '  motd: ': '  motd: x ' } } },
  config_startup: { done: 'ready' },
  config_logs: {},
  config_stop: 'stop',
  script_install: '#!/bin/ash\necho hi\n',
}

describe('nests', () => {
  it('are added, changed and removed', async () => {
    const added = await send('POST', '', { name: ' Games ', description: 'All of them' })
    expect(added.status).toBe(201)
    const { id, author } = added.body.attributes
    expect(author).toMatch(/@example\.test$/)
    expect(added.body.attributes).toMatchObject({ name: 'Games', description: 'All of them' })
    expect(added.body.meta.resource).toBe(`http://panel.test${base}/${id}`)
    const changed = await send('PATCH', `/${id}`, { description: '', author: 'me' })
    expect(changed.body.attributes).toMatchObject({ name: 'Games', description: null, author: 'me' })
    expect((await send('DELETE', `/${id}`)).status).toBe(204)
    for (const method of ['PATCH', 'DELETE'])
      expect((await send(method, `/${id}`, { name: 'x' })).status).toBe(404)
  })

  it('with eggs cannot be removed', async () => {
    const egg = await makeEgg(world)
    const { status, body } = await send('DELETE', `/${egg.nestId}`)
    expect([status, body.errors[0].code]).toEqual([400, 'DisplayException'])
  })
})

describe('eggs', () => {
  it('are added with their texts as they are', async () => {
    const nest = await addNest()
    const { status, body } = await send('POST', `/${nest}/eggs`, { ...written, file_denylist: ['*.key'] })
    expect(status).toBe(201)
    expect(body.meta.resource).toBe(`http://panel.test${base}/${nest}/eggs/${body.attributes.id}`)
    expect(body.attributes).toMatchObject({
      nest,
      name: 'Plain',
      docker_image: 'ghcr.io/acme/java:21',
      config: {
        files: written.config_files,
        startup: { done: 'ready' },
        stop: 'stop',
        file_denylist: ['*.key'],
        extends: null,
      },
      script: { install: '#!/bin/ash\necho hi\n', entry: 'ash', container: 'alpine:3.4', privileged: true },
      force_outgoing_ip: false,
    })
  })

  it('are changed field by field', async () => {
    const egg = await makeEgg(world)
    const { status, body } = await send('PATCH', `/${egg.nestId}/eggs/${egg.id}`, {
      name: ' Other ',
      features: ['eula'],
      script_install: ' ',
      script_is_privileged: 0,
      force_outgoing_ip: 'true',
      query_game: 'rust',
      update_url: 'https://eggs.example/other.json',
    })
    expect(status).toBe(200)
    expect(body.attributes).toMatchObject({
      name: 'Other',
      features: ['eula'],
      startup: egg.startup,
      config: { startup: { done: 'ready' }, stop: 'stop' },
      script: { install: null, privileged: false },
      force_outgoing_ip: true,
      query_game: 'rust',
      update_url: 'https://eggs.example/other.json',
    })
    const guessed = await send('PATCH', `/${egg.nestId}/eggs/${egg.id}`, { query_game: ' ' })
    expect(guessed.body.attributes.query_game).toBeNull()
    const drawn = await send('PATCH', `/${egg.nestId}/eggs/${egg.id}`, { icon: 'ship' })
    expect(drawn.body.attributes.icon).toBe('ship')
    expect(
      (await send('PATCH', `/${egg.nestId}/eggs/${egg.id}`, { icon: null })).body.attributes.icon,
    ).toBeNull()
    expect((await send('PATCH', `/${egg.nestId}/eggs/${egg.id}`, { icon: 'cat' })).status).toBe(422)
    const odd = await send('PATCH', `/${egg.nestId}/eggs/${egg.id}`, { query_game: 'No Game!' })
    expect(rules(odd)).toEqual(['query_game: regex'])
    expect((await send('PATCH', `/${egg.nestId + 1}/eggs/${egg.id}`, { name: 'x' })).status).toBe(404)
  })

  it('name each broken rule of each field', async () => {
    const nest = await addNest()
    const answer = await send('POST', `/${nest}/eggs`, {
      ...written,
      name: ' ',
      docker_images: { bad: 'acme/$(id)' },
      update_url: 'javascript:alert(1)',
      config_files: { 'a.yml': { parser: 'toml', find: {} } },
      config_startup: { done: 7 },
      startup: undefined,
      force_outgoing_ip: 'perhaps',
    })
    expect(answer.status).toBe(422)
    expect(rules(answer)).toEqual([
      'name: between',
      'docker_images.bad: regex',
      'update_url: url',
      'config_files.a.yml.parser: in',
      'config_startup.done: ',
      'startup: required',
      'force_outgoing_ip: boolean',
    ])
    expect(rules(await send('POST', `/${nest}/eggs`, { ...written, docker_images: {} }))).toEqual([
      'docker_images: required',
    ])
    expect((await send('POST', `/${nest + 1}/eggs`, written)).status).toBe(404)
    expect(await world.database.db.select().from(eggs)).toEqual([])
  })

  it('have configuration of their own or from another egg', async () => {
    const parent = await makeEgg(world)
    const path = `/${parent.nestId}/eggs`
    const { config_files: _files, config_stop: _stop, ...bare } = written
    expect(rules(await send('POST', path, bare))).toEqual([
      'config_files: required_without',
      'config_stop: required_without',
    ])
    const child = await send('POST', path, { ...bare, config_from: parent.id })
    expect(child.body.attributes.config).toMatchObject({ stop: null, extends: parent.id })
    const at = `${path}/${child.body.attributes.id}`
    expect(rules(await send('PATCH', at, { config_from: null, config_files: {} }))).toEqual([
      'config_stop: required_without',
    ])
    const alone = { config_from: null, config_files: {}, config_stop: '^C' }
    expect((await send('PATCH', at, alone)).body.attributes.config.extends).toBeNull()
    expect(rules(await send('PATCH', at, { config_stop: null }))).toEqual(['config_stop: required_without'])
  })

  it('take from an egg of their own nest that takes nothing itself', async () => {
    const parent = await makeEgg(world)
    const { nestId } = parent
    const foreign = await makeEgg(world)
    const child = await makeEgg(world, { nestId, configFrom: parent.id, copyScriptFrom: parent.id })
    const third = await makeEgg(world, { nestId })
    const refused = async (id: number, body: object) =>
      rules(await send('PATCH', `/${nestId}/eggs/${id}`, body))
    expect(await refused(third.id, { config_from: foreign.id, copy_script_from: 9999 })).toEqual([
      'config_from: exists',
      'copy_script_from: exists',
    ])
    expect(await refused(third.id, { config_from: third.id })).toEqual(['config_from: different'])
    expect(await refused(third.id, { config_from: child.id, copy_script_from: child.id })).toEqual([
      'config_from: in',
      'copy_script_from: in',
    ])
    expect(await refused(parent.id, { copy_script_from: third.id })).toEqual(['copy_script_from: in'])
    const crossed = await Promise.all([
      send('PATCH', `/${nestId}/eggs/${third.id}`, { config_from: parent.id }),
      send('PATCH', `/${nestId}/eggs/${third.id}`, { copy_script_from: parent.id }),
    ])
    expect(crossed.map(({ status }) => status)).toEqual([200, 200])
  })

  it('never inherit from each other, even when both are changed at once', async () => {
    const one = await makeEgg(world)
    const other = await makeEgg(world, { nestId: one.nestId })
    const answers = await Promise.all([
      send('PATCH', `/${one.nestId}/eggs/${one.id}`, { config_from: other.id }),
      send('PATCH', `/${one.nestId}/eggs/${other.id}`, { config_from: one.id }),
    ])
    expect(answers.filter(({ status }) => status === 200).length).toBe(1)
    expect(answers.filter(({ status }) => status === 422).length).toBe(1)
  })

  it('are removed with their variables, unless servers or other eggs need them', async () => {
    const parent = await makeEgg(world)
    const { nestId } = parent
    const child = await makeEgg(world, { nestId, copyScriptFrom: parent.id })
    const server = await makeServer(world, { egg: child })
    const remove = (id: number, nest = nestId) => send('DELETE', `/${nest}/eggs/${id}`)
    expect((await remove(parent.id)).body.errors[0].code).toBe('HasChildrenException')
    expect((await remove(child.id)).body.errors[0].code).toBe('HasActiveServersException')
    expect((await remove(child.id, nestId + 1)).status).toBe(404)
    await world.database.db.delete(servers).where(eq(servers.id, server.id))
    expect([(await remove(child.id)).status, (await remove(parent.id)).status]).toEqual([204, 204])
    expect(await world.database.db.select().from(eggVariables)).toEqual([])
    expect((await remove(parent.id)).status).toBe(404)
  })
})

describe('egg documents', () => {
  it('are imported as new eggs and over those of the same name', async () => {
    const nest = await addNest()
    const added = await send('POST', `/${nest}/eggs/import`, pterodactyl())
    expect(added.status).toBe(200)
    expect(added.body.meta).toEqual({ state: 'new', warnings: [] })
    expect(added.body.attributes.script.install).toBe('#!/bin/ash\necho hi\n')
    const again = pterodactyl({ startup: 'other', variables: [{ ...variable, rules: 'required|magic' }] })
    const updated = await send('POST', `/${nest}/eggs/import`, again)
    expect(updated.body.attributes).toMatchObject({ id: added.body.attributes.id, startup: 'other' })
    expect(updated.body.meta.state).toBe('updated')
    expect(updated.body.meta.warnings).toEqual([expect.stringContaining('magic')])
  })

  it('of other panels are imported by their uuid, in the nest where it is', async () => {
    const nest = await addNest()
    const added = await send('POST', `/${nest}/eggs/import`, pelican())
    const renamed = await send('POST', `/${nest}/eggs/import`, pelican({ name: 'Renamed' }))
    expect(renamed.body.attributes).toMatchObject({ id: added.body.attributes.id, name: 'Renamed' })
    const elsewhere = await addNest()
    const refused = await send('POST', `/${elsewhere}/eggs/import`, pelican({ name: 'Stolen' }))
    expect([refused.status, rules(refused)]).toEqual([422, ['uuid: unique']])
    expect((await world.database.db.select().from(eggs)).map(({ name }) => name)).toEqual(['Renamed'])
  })

  it('with faults are refused, naming every one', async () => {
    const nest = await addNest()
    const answer = await send('POST', `/${nest}/eggs/import`, pterodactyl({ name: ' ', docker_images: {} }))
    expect(answer.status).toBe(422)
    expect(rules(answer).toSorted()).toEqual(['docker_images: egg_format', 'name: egg_format'])
    expect(answer.body.errors).toContainEqual(
      expect.objectContaining({
        detail: 'The name field is missing.',
        meta: { source_field: 'name', rule: 'egg_format', reason: 'egg_part_missing' },
      }),
    )
    expect(rules(await send('POST', `/${nest}/eggs/import`, {}))).toEqual(['meta.version: egg_format'])
    const long = pterodactyl({ startup: 'x'.repeat(1024 * 1024) })
    expect((await send('POST', `/${nest}/eggs/import`, long)).status).toBe(413)
    const large = pterodactyl({ startup: 'x'.repeat(512 * 1024) })
    expect((await send('POST', `/${nest}/eggs/import`, large)).status).toBe(200)
    expect((await send('POST', `/${nest + 1}/eggs/import`, pterodactyl())).status).toBe(404)
  })

  it('imported twice at once make one egg', async () => {
    const nest = await addNest()
    for (const document of [pterodactyl(), pelican({ name: 'Other' })]) {
      const answers = await Promise.all([1, 2, 3].map(() => send('POST', `/${nest}/eggs/import`, document)))
      const states = answers.map(({ body }) => String(body.meta.state))
      expect(states.filter((state) => state === 'new')).toHaveLength(1)
      expect(states.filter((state) => state === 'updated')).toHaveLength(2)
    }
    expect((await world.database.db.select().from(eggs)).length).toBe(2)
  })

  it('are exported as they came in', async () => {
    const nest = await addNest()
    const { body } = await send('POST', `/${nest}/eggs/import`, pterodactyl())
    const path = `/${nest}/eggs/${body.attributes.id}/export`
    let exported: any
    expect(await world.countStatements(async () => (exported = await send('GET', path)))).toBe(2)
    const { _comment, exported_at, config, ...rest } = exported.body
    const { _comment: _, exported_at: __, config: given, ...original } = pterodactyl()
    expect(rest).toEqual({ ...original, file_denylist: ['*.key'] })
    expect(JSON.parse(config.files)).toEqual(JSON.parse((given as { files: string }).files))
    await world.database.db.delete(eggs)
    await send('POST', `/${nest}/eggs/import`, exported.body)
    const [row] = await world.database.db.select().from(eggs)
    const second = await send('GET', `/${nest}/eggs/${row?.id}/export`)
    expect({ ...second.body, exported_at }).toEqual(exported.body)
  })

  it('hold what an egg takes from others', async () => {
    const parent = await makeEgg(world, { configStop: '^C', scriptInstall: 'echo parent' })
    const { nestId, id } = parent
    const inherited = { configFrom: id, copyScriptFrom: id, configStop: null, scriptInstall: null }
    const child = await makeEgg(world, { nestId, ...inherited })
    const { body } = await send('GET', `/${nestId}/eggs/${child.id}/export`)
    expect(body).toMatchObject({
      config: { stop: '^C' },
      scripts: { installation: { script: 'echo parent' } },
      variables: [{ env_variable: 'MOTD' }],
    })
    const [other] = await world.database.db.insert(nests).values({ name: 'x', author: 'x' }).returning()
    expect((await send('GET', `/${other?.id}/eggs/${child.id}/export`)).status).toBe(404)
  })
})

describe('variables of eggs', () => {
  it('are added, changed and removed', async () => {
    const egg = await makeEgg(world)
    const path = `/${egg.nestId}/eggs/${egg.id}/variables`
    const added = await send('POST', path, { name: 'Jar', env_variable: 'JAR', rules: 'required|wishful:1' })
    expect(added.status).toBe(201)
    expect(added.body.attributes).toMatchObject({
      egg_id: egg.id,
      env_variable: 'JAR',
      default_value: '',
      user_viewable: false,
      user_editable: false,
      rules: 'required|wishful:1',
    })
    expect(added.body.meta.warnings).toEqual(['JAR has a rule that cannot be used (unknown_rule): wishful:1'])
    const at = `${path}/${added.body.attributes.id}`
    const changed = await send('PATCH', at, { rules: 'required', default_value: ' a ', user_viewable: 1 })
    expect(changed.body.attributes).toMatchObject({ default_value: ' a ', user_viewable: true, name: 'Jar' })
    expect(changed.body.meta.warnings).toEqual([])
    expect((await send('DELETE', at)).status).toBe(204)
    expect((await send('DELETE', at)).status).toBe(404)
  })

  it('have names that are free and not reserved', async () => {
    const egg = await makeEgg(world)
    const path = `/${egg.nestId}/eggs/${egg.id}/variables`
    const refused = async (name: unknown) =>
      rules(await send('POST', path, { name: 'x', env_variable: name }))
    expect(await refused('MOTD')).toEqual(['env_variable: unique'])
    expect(await refused('server_memory')).toEqual(['env_variable: not_in'])
    expect(await refused('A-B')).toEqual(['env_variable: regex'])
    expect(await refused(undefined)).toEqual(['env_variable: required'])
    const { body } = await send('POST', path, { name: 'x', env_variable: 'OTHER' })
    const answer = await send('PATCH', `${path}/${body.attributes.id}`, { env_variable: 'MOTD' })
    expect(rules(answer)).toEqual(['env_variable: unique'])
    const foreign = await makeEgg(world, { nestId: egg.nestId })
    const elsewhere = `/${egg.nestId}/eggs/${foreign.id}/variables/${body.attributes.id}`
    expect((await send('PATCH', elsewhere, { name: 'y' })).status).toBe(404)
    expect((await send('DELETE', elsewhere)).status).toBe(404)
  })

  it('take the values of their servers along to another name', async () => {
    const egg = await makeEgg(world)
    const set = await makeServer(world, { egg, variables: { MOTD: 'Mine', GREETING: 'stale', KEPT: '1' } })
    const unset = await makeServer(world, { egg, variables: { KEPT: '1' } })
    const otherServer = await makeServer(world, { variables: { MOTD: 'Theirs' } })
    const [row] = await world.database.db.select().from(eggVariables).where(eq(eggVariables.eggId, egg.id))
    const at = `/${egg.nestId}/eggs/${egg.id}/variables/${row?.id}`
    expect((await send('PATCH', at, { env_variable: 'GREETING' })).status).toBe(200)
    const valuesOf = async (id: number) =>
      (await world.database.db.select().from(servers).where(eq(servers.id, id)))[0]?.variables
    expect(await valuesOf(set.id)).toEqual({ GREETING: 'Mine', KEPT: '1' })
    expect(await valuesOf(unset.id)).toEqual({ KEPT: '1' })
    expect(await valuesOf(otherServer.id)).toEqual({ MOTD: 'Theirs' })
    expect((await send('DELETE', at)).status).toBe(204)
    expect(await valuesOf(set.id)).toEqual({ GREETING: 'Mine', KEPT: '1' })
  })
})
