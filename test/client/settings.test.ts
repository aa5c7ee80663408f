import { beforeEach, describe, expect, it } from 'vitest'
import { single } from '../../src/db/database.ts'
import { activity, jobs, servers } from '../../src/db/schema.ts'
import type { Server } from '../../src/db/tables/servers.ts'
import {
  makeClientToken,
  makeEgg,
  makeNode,
  makeServer,
  makeSubuser,
  makeUser,
} from '../support/factories.ts'
import { useStubDaemon } from '../support/stub-daemon.ts'
import { useWorld } from '../support/world.ts'
import { conflictsOf } from './conflicts.ts'

const world = useWorld()
const daemon = useStubDaemon()
let server: Server
let token: string

beforeEach(async () => {
  const owner = await makeUser(world)
  const node = await makeNode(world, { daemonListen: daemon.port })
  const egg = await makeEgg(world, { dockerImages: { Node: 'node:24-alpine', Bun: '~oven/bun:1' } })
  server = await makeServer(world, { owner, node, egg, name: 'Before', description: 'As it was' })
  token = await makeClientToken(world, owner)
})

const send = (method: string, at: string, body: unknown, as = token) =>
  world.request(method, `/api/client/servers/${server.uuid}/settings/${at}`, {
    token: as,
    ...(body === undefined ? {} : { body }),
  })
const rename = (body: unknown, as = token) => send('POST', 'rename', body, as)
const reinstall = (as = token) => send('POST', 'reinstall', undefined, as)
const choose = (image: unknown, as = token) => send('PUT', 'docker-image', { docker_image: image }, as)
const row = async () => single(await world.database.db.select().from(servers))
const update = (values: Partial<Server>) => world.database.db.update(servers).set(values)
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
const refusal = ({ status, body }: { status: number; body: any }) => [status, body.errors[0].code]

describe('the settings of a server', () => {
  it('each need their own permission', async () => {
    const ways = {
      'settings.rename': (as: string) => rename({ name: 'x' }, as),
      'settings.reinstall': reinstall,
      'startup.docker-image': (as: string) => choose('node:24-alpine', as),
    }
    const tokens = await Promise.all(Object.keys(ways).map((permission) => subuserToken([permission])))
    for (const [at, [permission, ask]] of Object.entries(ways).entries()) {
      for (const [other, as] of tokens.entries()) {
        await update({ status: null })
        const { status } = await ask(as)
        expect([permission, status === 403]).toEqual([permission, at !== other])
      }
    }
  })

  it('are out of reach while the state forbids it, but for installing again what was not installed', async () => {
    const routes = [
      ['POST', '/settings/rename', { name: 'x' }],
      ['PUT', '/settings/docker-image', { docker_image: '~oven/bun:1' }],
      ['POST', '/settings/reinstall'],
    ] as const
    for (const { state, caller, refused } of await conflictsOf(world, server, routes)) {
      // The first of them starts it, so that the others come while it is going on.
      const isAllowed = ['installing', 'install_failed'].includes(state) && caller === 'owner'
      expect([state, caller, refused.length]).toEqual([state, caller, isAllowed ? 2 : 3])
    }
    const path = `/api/servers/${server.uuid}/reinstall`
    expect(daemon.calls.map((call) => call.path)).toEqual([path, path])
    expect(await row()).toMatchObject({ name: 'Before', image: 'node:24-alpine' })
    expect(await world.events()).toEqual(['server:reinstall', 'server:reinstall'])
  })
})

describe('renaming a server', () => {
  it('changes name and description, and records each that is another one', async () => {
    expect(await rename({ name: ' After ', description: 'One\nline' })).toMatchObject({
      status: 204,
      text: '',
    })
    expect(await row()).toMatchObject({ name: 'After', description: 'One\nline' })
    const about = { serverId: server.id }
    expect(await entries()).toEqual([
      { ...about, event: 'server:settings.rename', properties: { old: 'Before', new: 'After' } },
      { ...about, event: 'server:settings.description', properties: { old: 'As it was', new: 'One\nline' } },
    ])
    await rename({ name: 'After', description: 'One\nline' })
    await rename({ name: 'Last' })
    expect((await row()).description).toBe('One\nline')
    await rename({ name: 'Last', description: null })
    expect((await row()).description).toBe('')
    expect((await world.events()).slice(2)).toEqual(['server:settings.rename', 'server:settings.description'])
    expect(daemon.calls).toEqual([])
  })

  it('needs a name of one line', async () => {
    for (const [body, field, rule] of [
      [{}, 'name', 'required'],
      [{ name: '  ' }, 'name', 'required'],
      [{ name: ['x'] }, 'name', 'string'],
      [{ name: 'x'.repeat(192) }, 'name', 'max'],
      [{ name: 'a\nb' }, 'name', 'regex'],
      [{ name: 'a\u001b[31m' }, 'name', 'regex'],
      [{ name: 'x', description: 7 }, 'description', 'string'],
      [{ name: 'x', description: 'a\u0007' }, 'description', 'regex'],
    ] as const) {
      const answer = await rename(body)
      expect([answer.status, answer.body.errors[0].meta]).toMatchObject([422, { source_field: field, rule }])
    }
    expect(await row()).toMatchObject({ name: 'Before', description: 'As it was' })
    expect(await world.events()).toEqual([])
    expect((await rename({ name: 'x'.repeat(191) })).status).toBe(204)
  })

  it('records what it replaced, however many rename at once', async () => {
    const names = Array.from({ length: 10 }, (_, at) => `Name ${at}`)
    await Promise.all(names.map((name) => rename({ name })))
    const changes = (await entries()).map(({ properties }) => properties as { old: string; new: string })
    expect(changes.map((change) => change.old)).toEqual([
      'Before',
      ...changes.slice(0, -1).map((change) => change.new),
    ])
    expect((await row()).name).toBe(changes.at(-1)?.new)
  })
})

describe('installing a server again', () => {
  it('asks the daemon and is recorded', async () => {
    const answer = await reinstall()
    expect([answer.status, answer.body]).toEqual([202, []])
    expect(daemon.calls.map(({ method, path }) => [method, path])).toEqual([
      ['POST', `/api/servers/${server.uuid}/reinstall`],
    ])
    expect((await row()).status).toBe('installing')
    expect(await entries()).toEqual([{ event: 'server:reinstall', properties: {}, serverId: server.id }])
    expect(refusal(await reinstall())).toEqual([409, 'ServerStateConflictException'])
    expect(daemon.calls).toHaveLength(1)
  })

  it('is possible after an installation failed, with the permission', async () => {
    const tokens = [
      token,
      await subuserToken(['settings.reinstall']),
      await makeClientToken(world, await makeUser(world, { rootAdmin: true })),
    ]
    for (const status of ['install_failed', 'reinstall_failed'] as const) {
      for (const as of tokens) {
        await update({ status })
        expect((await reinstall(as)).status).toBe(202)
        expect((await row()).status).toBe('installing')
      }
    }
    expect(daemon.calls).toHaveLength(6)
  })

  it('that the daemon does not take on changes nothing', async () => {
    daemon.respond({ status: 500, json: { error: 'out of order' } })
    for (const status of [null, 'install_failed', 'reinstall_failed'] as const) {
      await update({ status })
      expect(refusal(await reinstall())).toEqual([500, 'DaemonConnectionException'])
      expect((await row()).status).toBe(status)
    }
    expect(await world.events()).toEqual([])
    expect(await world.runJobs()).toBe(0)
  })

  it('starts once, however many ask at once', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => reinstall()))
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(1)
    const refused = answers.filter(({ status }) => status !== 202).map(refusal)
    expect(refused).toEqual(Array.from({ length: 9 }, () => [409, 'ServerStateConflictException']))
    expect(daemon.calls).toHaveLength(1)
    expect(await world.events()).toEqual(['server:reinstall'])
    const queued = await world.database.db.select().from(jobs)
    expect(
      queued.filter(({ name }) => name === 'reinstall-server-on-node').map(({ state }) => state),
    ).toEqual(['done'])
  })
})

describe('the image of a server', () => {
  it('is one of the egg, recorded when it is another one', async () => {
    expect(await choose('~oven/bun:1')).toMatchObject({ status: 204, text: '' })
    expect((await choose('~oven/bun:1')).status).toBe(204)
    expect((await row()).image).toBe('~oven/bun:1')
    expect(await entries()).toEqual([
      {
        event: 'server:startup.image',
        properties: { old: 'node:24-alpine', new: '~oven/bun:1' },
        serverId: server.id,
      },
    ])
    expect(daemon.calls).toEqual([])
  })

  it('is no other one', async () => {
    for (const [image, rule] of [
      ['debian:12', 'in'],
      ['Node', 'in'],
      ['NODE:24-alpine', 'in'],
      ['node:24-alpine; rm -rf /', 'regex'],
      ['node:24-alpine\nx', 'regex'],
      [['node:24-alpine'], 'string'],
      ['', 'required'],
      [undefined, 'required'],
      ['x'.repeat(192), 'max'],
    ]) {
      const { status, body } = await choose(image)
      expect([status, body.errors[0].meta]).toMatchObject([422, { source_field: 'docker_image', rule }])
    }
    expect((await row()).image).toBe('node:24-alpine')
    expect(await world.events()).toEqual([])
  })

  it('stays as an administrator has chosen it', async () => {
    await update({ image: 'ghcr.io/example/special:1' })
    for (const image of ['node:24-alpine', 'ghcr.io/example/special:1']) {
      expect(refusal(await choose(image))).toEqual([400, 'BadRequestHttpException'])
    }
    expect((await row()).image).toBe('ghcr.io/example/special:1')
    expect(await world.events()).toEqual([])
  })
})
