import { beforeEach, describe, expect, it } from 'vitest'
import { activity } from '../../src/db/schema.ts'
import {
  makeClientToken,
  makeKey,
  makeNode,
  makeServer,
  makeSubuser,
  makeUser,
} from '../support/factories.ts'
import { useStubDaemon } from '../support/stub-daemon.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
const daemon = useStubDaemon()
let owner: Awaited<ReturnType<typeof makeUser>>
let server: Awaited<ReturnType<typeof makeServer>>
let token: string

beforeEach(async () => {
  owner = await makeUser(world)
  server = await makeServer(world, { owner, node: await makeNode(world, { daemonListen: daemon.port }) })
  token = await makeClientToken(world, owner)
})

const post = (path: 'power' | 'command', body: unknown, as = token) =>
  world.request('POST', `/api/client/servers/${server.uuid}/${path}`, { token: as, body })

const power = (signal: unknown, as = token) => post('power', { signal }, as)
const command = (text: unknown, as = token) => post('command', { command: text }, as)

const daemonCalls = () => daemon.calls.map(({ method, path, body }) => ({ method, path, body }))

const subuserToken = async (permissions: string[]) => {
  const friend = await makeUser(world)
  await makeSubuser(world, server, friend, permissions)
  return makeClientToken(world, friend)
}

describe('power signals', () => {
  it('reach the daemon and are recorded', async () => {
    for (const signal of ['start', 'stop', 'restart', 'kill']) {
      expect((await power(signal)).status).toBe(204)
    }
    expect(daemonCalls()).toEqual(
      ['start', 'stop', 'restart', 'kill'].map((action) => ({
        method: 'POST',
        path: `/api/servers/${server.uuid}/power`,
        body: { action },
      })),
    )
    expect(await world.events()).toEqual([
      'server:power.start',
      'server:power.stop',
      'server:power.restart',
      'server:power.kill',
    ])
  })

  it('each need their own permission, a forced stop that of a stop', async () => {
    const allowed = {
      'control.start': ['start'],
      'control.stop': ['stop', 'kill'],
      'control.restart': ['restart'],
      'control.console': [],
    }
    for (const [permission, signals] of Object.entries<string[]>(allowed)) {
      const as = await subuserToken([permission])
      for (const signal of ['start', 'stop', 'restart', 'kill']) {
        expect((await power(signal, as)).status).toBe(signals.includes(signal) ? 204 : 403)
      }
    }
    expect(daemon.calls).toHaveLength(4)
  })

  it('are one of four', async () => {
    for (const [signal, rule] of [
      ['explode', 'in'],
      ['START', 'in'],
      [['start'], 'in'],
      [{ a: 1 }, 'in'],
      [1, 'in'],
      [null, 'required'],
      ['', 'required'],
      [undefined, 'required'],
    ]) {
      const { status, body } = await power(signal)
      expect([status, body.errors[0].meta]).toMatchObject([422, { source_field: 'signal', rule }])
    }
    expect((await post('power', [])).status).toBe(422)
    expect((await post('power', 'start')).status).toBe(400)
    expect(daemon.calls).toEqual([])
  })

  it('are recorded with who sent them and how', async () => {
    const { row, token: key } = await makeKey(world, owner, { type: 'account' })
    await power('start', key)
    const [entry] = await world.database.db.select().from(activity)
    expect(entry).toMatchObject({
      event: 'server:power.start',
      serverId: server.id,
      actorId: owner.id,
      apiKeyId: row.id,
      source: 'api',
      ip: '192.0.2.1',
      properties: {},
    })
  })
})

describe('commands', () => {
  it('reach the console and are recorded', async () => {
    expect((await command(' say hello\n')).status).toBe(204)
    expect(daemonCalls()).toEqual([
      { method: 'POST', path: `/api/servers/${server.uuid}/commands`, body: { commands: ['say hello'] } },
    ])
    const [entry] = await world.database.db.select().from(activity)
    expect(entry).toMatchObject({
      event: 'server:console.command',
      serverId: server.id,
      properties: { command: 'say hello' },
    })
  })

  it('need control.console', async () => {
    expect((await command('list', await subuserToken(['control.start']))).status).toBe(403)
    expect((await command('list', await subuserToken(['control.console']))).status).toBe(204)
  })

  it('are one line of text', async () => {
    for (const [text, rule] of [
      ['say a\nop me', 'regex'],
      ['say a\rop me', 'regex'],
      ['say \u0003', 'regex'],
      ['say \u0085x', 'regex'],
      ['x'.repeat(4097), 'max'],
      ['', 'required'],
      ['  ', 'required'],
      [undefined, 'required'],
      [7, 'string'],
      [['list'], 'string'],
    ]) {
      const { status, body } = await command(text)
      expect([status, body.errors[0].meta]).toMatchObject([422, { source_field: 'command', rule }])
    }
    expect((await command('say \0')).status).toBe(400)
    expect(daemon.calls).toEqual([])
    for (const text of ['x'.repeat(4096), 'say\ta', 'sag äöü 日本 🎮']) {
      expect((await command(text)).status).toBe(204)
    }
  })

  it('are refused with 502 by a server that is stopped', async () => {
    daemon.respond({ status: 502, json: { error: 'cannot send commands to a stopped server' } })
    const { status, body } = await command('list')
    expect([status, body.errors[0].code]).toEqual([502, 'HttpException'])
    expect(await world.events()).toEqual([])
  })
})

describe('a daemon that fails', () => {
  it('leaves no event', async () => {
    daemon.respond({ status: 400, json: { error: 'suspended' } })
    expect((await power('start')).status).toBe(400)
    expect((await command('list')).status).toBe(400)
    expect(await world.events()).toEqual([])
  })

  it('is quoted below 500 with the id of its request', async () => {
    for (const status of [400, 404, 409, 422]) {
      daemon.respond({ status, json: { error: 'not today' }, headers: { 'x-request-id': 'abc-1' } })
      const { status: answered, body } = await power('start')
      expect(answered).toBe(status)
      expect(body.errors[0].code).toBe('DaemonConnectionException')
      expect(body.errors[0].detail).toContain('not today')
      expect(body.errors[0].detail).toContain('abc-1')
    }
  })

  it('is not quoted from 500 on', async () => {
    for (const status of [500, 502, 503]) {
      daemon.respond({ status, json: { error: 'at /etc/secret' }, headers: { 'x-request-id': 'abc-2' } })
      const { status: answered, body } = await power('start')
      expect([answered, body.errors[0].code]).toEqual([status, 'DaemonConnectionException'])
      expect(body.errors[0].detail).toContain('abc-2')
      expect(body.errors[0].detail).not.toContain('secret')
    }
  })

  it('is a 502 when it does not know the panel or answers beside the point', async () => {
    for (const status of [401, 403, 302]) {
      daemon.respond({ status, headers: { location: 'http://127.0.0.1:1/' } })
      const { status: answered, body } = await power('start')
      expect([answered, body.errors[0].code]).toEqual([502, 'DaemonConnectionException'])
    }
  })

  it('is a 504 when it hangs or is not there', async () => {
    Object.assign(world.services, { config: { ...world.services.config, daemonTimeoutMs: 150 } })
    daemon.respond({ hang: true })
    const codeOf = ({ status, body }: { status: number; body: any }) => [status, body.errors[0].code]
    const unreachable = [504, 'DaemonConnectionException']
    expect(codeOf(await power('start'))).toEqual(unreachable)
    expect(codeOf(await command('list'))).toEqual([503, 'DaemonConnectionException'])
    const resources = `/api/client/servers/${server.uuid}/resources`
    expect(codeOf(await world.request('GET', resources, { token }))).toEqual(unreachable)
    const gone = await makeServer(world, { owner, node: await makeNode(world, { daemonListen: 1 }) })
    const path = `/api/client/servers/${gone.uuid}/power`
    expect(codeOf(await world.request('POST', path, { token, body: { signal: 'start' } }))).toEqual(
      unreachable,
    )
    expect(await world.events()).toEqual([])
  })
})
