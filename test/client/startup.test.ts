import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { single } from '../../src/db/database.ts'
import { activity, eggVariables, servers } from '../../src/db/schema.ts'
import { makeClientToken, makeEgg, makeServer, makeSubuser, makeUser } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'
import { conflictsOf } from './conflicts.ts'

const world = useWorld()
let owner: Awaited<ReturnType<typeof makeUser>>
let egg: Awaited<ReturnType<typeof makeEgg>>
let server: Awaited<ReturnType<typeof makeServer>>
let token: string

beforeEach(async () => {
  owner = await makeUser(world)
  egg = await makeEgg(world, { dockerImages: { Node: 'node:24-alpine', Bun: 'oven/bun:1' } })
  server = await makeServer(world, {
    owner,
    egg,
    startup: 'run {{MOTD}} {{SECRET}} {{SERVER_MEMORY}} {{SERVER_PORT}}',
    variables: { SECRET: 'hush' },
  })
  token = await makeClientToken(world, owner)
  await addVariable('SECRET', { userViewable: false, userEditable: true })
})

const addVariable = async (
  envVariable: string,
  values: Partial<typeof eggVariables.$inferInsert> = {},
): Promise<void> => {
  await world.database.db.insert(eggVariables).values({
    eggId: egg.id,
    name: envVariable,
    envVariable,
    userViewable: true,
    userEditable: true,
    rules: 'nullable|string|max:20',
    ...values,
  })
}

const read = (as = token) => world.request('GET', `/api/client/servers/${server.uuid}/startup`, { token: as })
const change = (body: unknown, as = token) =>
  world.request('PUT', `/api/client/servers/${server.uuid}/startup/variable`, { token: as, body })
const set = (key: unknown, value: unknown, as = token) => change({ key, value }, as)
const stored = async () =>
  single(await world.database.db.select().from(servers).where(eq(servers.id, server.id))).variables
const entries = () =>
  world.database.db
    .select({ event: activity.event, properties: activity.properties, serverId: activity.serverId })
    .from(activity)
    .orderBy(activity.id)
const subuserToken = async (permissions: string[]) => {
  const friend = await makeUser(world)
  await makeSubuser(world, server, friend, permissions)
  return makeClientToken(world, friend)
}

/** Replaces the port of the server, which differs in each test. */
const command = (text: string) => expect.stringMatching(new RegExp(`^${text} 512 \\d+$`))

describe('the startup of a server', () => {
  it('shows the variables that people may view, and how the server is started', async () => {
    await addVariable('MODE', { userEditable: false, defaultValue: 'easy', description: 'How hard it is' })
    const answer = await read()
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        object: 'list',
        data: [
          {
            object: 'egg_variable',
            attributes: {
              name: 'Message',
              description: '',
              env_variable: 'MOTD',
              default_value: 'Hello',
              server_value: null,
              is_editable: true,
              rules: 'required|string|max:64',
            },
          },
          {
            object: 'egg_variable',
            attributes: {
              name: 'MODE',
              description: 'How hard it is',
              env_variable: 'MODE',
              default_value: 'easy',
              server_value: null,
              is_editable: false,
              rules: 'nullable|string|max:20',
            },
          },
        ],
        meta: {
          startup_command: command('run Hello \\[hidden\\]'),
          docker_images: { Node: 'node:24-alpine', Bun: 'oven/bun:1' },
          raw_startup_command: 'run {{MOTD}} {{SECRET}} {{SERVER_MEMORY}} {{SERVER_PORT}}',
        },
      },
    ])
  })

  it('has an empty object of images where the egg has none', async () => {
    const bare = await makeEgg(world, { dockerImages: {} })
    await world.database.db.update(servers).set({ eggId: bare.id })
    expect((await read()).text).toContain('"docker_images":{}')
  })

  it('needs startup.read to be seen, and startup.update to be changed', async () => {
    const reader = await subuserToken(['startup.read'])
    const writer = await subuserToken(['startup.update'])
    expect((await read(reader)).status).toBe(200)
    expect((await set('MOTD', 'x', reader)).status).toBe(403)
    expect((await read(writer)).status).toBe(403)
    const { status, body } = await set('MOTD', 'x', writer)
    expect([status, body.meta.startup_command]).toEqual([200, command('run \\[hidden\\] \\[hidden\\]')])
    expect((await set('MOTD', 'x', await makeClientToken(world, await makeUser(world)))).status).toBe(404)
  })

  it('is out of reach while the state of the server forbids it', async () => {
    const routes = [
      ['GET', '/startup'],
      ['PUT', '/startup/variable', { key: 'MOTD', value: 'x' }],
    ] as const
    for (const { refused } of await conflictsOf(world, server, routes)) expect(refused).toHaveLength(2)
    expect(await stored()).toEqual({ SECRET: 'hush' })
  })
})

describe('a variable', () => {
  it('gets a value, which is shown and recorded', async () => {
    const answer = await set('MOTD', ' Bonjour {{SECRET}} ')
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        object: 'egg_variable',
        attributes: {
          name: 'Message',
          description: '',
          env_variable: 'MOTD',
          default_value: 'Hello',
          server_value: 'Bonjour {{SECRET}}',
          is_editable: true,
          rules: 'required|string|max:64',
        },
        meta: {
          // A value is data: what looks like a placeholder in it stays.
          startup_command: command('run Bonjour \\{\\{SECRET\\}\\} \\[hidden\\]'),
          raw_startup_command: 'run {{MOTD}} {{SECRET}} {{SERVER_MEMORY}} {{SERVER_PORT}}',
        },
      },
    ])
    expect(await stored()).toEqual({ SECRET: 'hush', MOTD: 'Bonjour {{SECRET}}' })
    await set('MOTD', 'Bonjour {{SECRET}}')
    await set('MOTD', 'Salut')
    const edit = { event: 'server:startup.edit', serverId: server.id }
    expect(await entries()).toEqual([
      { ...edit, properties: { variable: 'MOTD', old: null, new: 'Bonjour {{SECRET}}' } },
      { ...edit, properties: { variable: 'MOTD', old: 'Bonjour {{SECRET}}', new: 'Salut' } },
    ])
  })

  it('that is emptied is stored so, and shown as none', async () => {
    await addVariable('MODE', { defaultValue: 'easy' })
    for (const value of [null, '', '  ']) {
      const { status, body } = await set('MODE', value)
      expect([status, body.attributes.server_value]).toEqual([200, null])
      expect(body.meta.startup_command).toEqual(command('run Hello \\[hidden\\]'))
      expect(await stored()).toEqual({ SECRET: 'hush', MODE: '' })
    }
    expect((await entries()).map(({ properties }) => properties)).toEqual([
      { variable: 'MODE', old: null, new: '' },
    ])
  })

  it('takes numbers, true and false as text', async () => {
    await addVariable('ANY')
    for (const [value, text] of [
      [25_565, '25565'],
      [1.5, '1.5'],
      [true, '1'],
      [false, '0'],
    ]) {
      expect((await set('ANY', value)).body.attributes.server_value).toBe(text)
    }
    expect((await stored()).ANY).toBe('0')
  })

  it('which people may not view, edit or check is refused before its value is looked at', async () => {
    await addVariable('FIXED', { userEditable: false, rules: 'required|integer' })
    await addVariable('BROKEN', { rules: 'string|no_such_rule' })
    await addVariable('HUNGRY', { rules: 'regex:/(a)\\1/' })
    const missing = 'The server has no such variable.'
    for (const [key, detail] of [
      ['SECRET', missing],
      ['UNKNOWN', missing],
      ['__proto', missing],
      ['motd', missing],
      ['FIXED', 'This variable is read-only.'],
      ['BROKEN', 'This variable is read-only.'],
      ['HUNGRY', 'This variable is read-only.'],
    ]) {
      const { status, body } = await set(key, 'x')
      expect([key, status, body.errors]).toEqual([
        key,
        400,
        [
          {
            code: 'BadRequestHttpException',
            status: '400',
            detail,
            meta: { reason: detail === missing ? 'variable_unknown' : 'variable_read_only' },
          },
        ],
      ])
    }
    expect(await stored()).toEqual({ SECRET: 'hush' })
    expect(await world.events()).toEqual([])
  })

  it('is held to the rules of the egg', async () => {
    await addVariable('PORT', { rules: 'required|integer|between:1024,65535' })
    await addVariable('MODE', { rules: 'required|string|in:easy,hard' })
    for (const [key, value, rules] of [
      ['MOTD', null, ['required']],
      ['MOTD', 'x'.repeat(65), ['max']],
      ['PORT', 'abc', ['integer', 'between']],
      ['PORT', 80, ['between']],
      ['MODE', 'Easy', ['in']],
    ] as const) {
      const { status, body } = await set(key, value)
      expect([status, body.errors.map((error: any) => [error.code, error.meta])]).toMatchObject([
        422,
        rules.map((rule) => ['ValidationException', { source_field: 'value', rule }]),
      ])
    }
    expect(await stored()).toEqual({ SECRET: 'hush' })
  })

  it('needs a key and a value of a fitting kind', async () => {
    for (const [body, field, rule] of [
      [{ value: 'x' }, 'key', 'required'],
      [{ key: null, value: 'x' }, 'key', 'required'],
      [{ key: ['MOTD'], value: 'x' }, 'key', 'string'],
      [{ key: 'MOTD' }, 'value', 'present'],
      [{ key: 'MOTD', value: ['x'] }, 'value', 'string'],
      [{ key: 'MOTD', value: { a: 1 } }, 'value', 'string'],
      [{ key: 'MOTD', value: 'x'.repeat(16_385) }, 'value', 'max'],
    ] as const) {
      const answer = await change(body)
      expect([answer.status, answer.body.errors[0].meta]).toMatchObject([422, { source_field: field, rule }])
    }
  })

  it('loses nothing to others that are changed at once', async () => {
    const keys = Array.from({ length: 12 }, (_, at) => `KEY_${at}`)
    for (const key of keys) await addVariable(key)
    const answers = await Promise.all(keys.map((key) => set(key, key.toLowerCase())))
    expect(answers.every(({ status }) => status === 200)).toBe(true)
    expect(await stored()).toEqual({
      SECRET: 'hush',
      ...Object.fromEntries(keys.map((key) => [key, key.toLowerCase()])),
    })
  })

  it('is recorded once, however many give it the same value at once', async () => {
    await Promise.all(Array.from({ length: 10 }, () => set('MOTD', 'same')))
    expect(await world.events()).toEqual(['server:startup.edit'])
  })
})
