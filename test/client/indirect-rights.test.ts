import { createHash } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { activityEvents } from '../../src/domain/activity/events.ts'
import { schedules, tasks } from '../../src/db/schema.ts'
import type { Answer } from '../support/answers.ts'
import { makeClientToken, makeServer, makeSubuser, makeUser } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'
import { makeEntry } from './activity-fixtures.ts'
import { createScheduleFixtures, hourly, listEvents, type ScheduleFixtures } from './schedule-fixtures.ts'

const world = useWorld()

describe('AZ-4: a change of when a schedule runs is judged by the permissions of every task in it', () => {
  let fixtures: ScheduleFixtures
  let schedule: number
  beforeEach(async () => {
    fixtures = await createScheduleFixtures(world)
    schedule = await fixtures.add()
    await fixtures.addTask(schedule, { payload: 'say hi' })
    await fixtures.addTask(schedule, { action: 'power', payload: 'kill' })
    await fixtures.addTask(schedule, { action: 'backup', payload: '' })
  })

  const edits = {
    minute: { minute: '*' },
    hour: { hour: '3' },
    day_of_month: { day_of_month: '1' },
    month: { month: '2' },
    day_of_week: { day_of_week: '1' },
    timezone: { timezone: 'Asia/Tokyo' },
    is_active: { is_active: true },
    only_when_online: { only_when_online: true },
  }
  const needed = ['control.console', 'control.stop', 'backup.create']

  it.each(Object.entries(edits))('%s', async (_field, change) => {
    const before = await world.database.db.select().from(schedules)
    const events = (await listEvents(world)).length
    for (const missing of needed) {
      const granted = needed.filter((name) => name !== missing)
      const token = await fixtures.subuser('schedule.update', ...granted)
      const { status, body } = await fixtures.post(`/${schedule}`, { ...hourly, ...change }, token)
      expect([status, body.errors[0].detail]).toEqual([403, `This needs the permission ${missing}.`])
    }
    expect(await world.database.db.select().from(schedules)).toEqual(before)
    expect(await listEvents(world)).toHaveLength(events)
    const editors = await world.database.db.select({ id: tasks.editorId }).from(tasks)
    expect(editors).toEqual(needed.map(() => ({ id: fixtures.owner.id })))
    const token = await fixtures.subuser('schedule.update', ...needed)
    expect((await fixtures.post(`/${schedule}`, { ...hourly, ...change }, token)).status).toBe(200)
  })

  it('switching it off as well, by leaving `is_active` out', async () => {
    expect((await fixtures.post(`/${schedule}`, { ...hourly, is_active: true })).status).toBe(200)
    const token = await fixtures.subuser('schedule.update')
    expect((await fixtures.post(`/${schedule}`, hourly, token)).status).toBe(403)
  })

  it('a new name alone needs nothing more', async () => {
    const token = await fixtures.subuser('schedule.update')
    expect((await fixtures.post(`/${schedule}`, { ...hourly, name: 'Other' }, token)).status).toBe(200)
    const editors = await world.database.db.select({ id: tasks.editorId }).from(tasks)
    expect(editors).toEqual(needed.map(() => ({ id: fixtures.owner.id })))
  })

  it('a schedule without tasks needs nothing more, and who changes it is the editor of its tasks', async () => {
    const empty = await fixtures.add()
    const token = await fixtures.subuser('schedule.update')
    expect((await fixtures.post(`/${empty}`, { ...hourly, hour: '5' }, token)).status).toBe(200)
    const other = await fixtures.subuser('schedule.update', ...needed)
    await fixtures.post(`/${schedule}`, { ...hourly, hour: '5' }, other)
    const editors = new Set((await world.database.db.select().from(tasks)).map(({ editorId }) => editorId))
    expect([...editors]).not.toContain(fixtures.owner.id)
    expect(editors.size).toBe(1)
  })
})

describe('AZ-11: the activity of a server', () => {
  let owner: Awaited<ReturnType<typeof makeUser>>
  let server: Awaited<ReturnType<typeof makeServer>>
  beforeEach(async () => {
    owner = await makeUser(world)
    server = await makeServer(world, { owner })
  })

  const make = (event: string, values: Parameters<typeof makeEntry>[1] = {}) =>
    makeEntry(world, { event, serverId: server.id, actorId: owner.id, ...values })
  const read = (token: string, query = '') =>
    world.request('GET', `/api/client/servers/${server.uuid}/activity${query}`, { token })
  const subuser = async (...permissions: string[]) => {
    const friend = await makeUser(world)
    await makeSubuser(world, server, friend, permissions)
    return { id: friend.id, token: await makeClientToken(world, friend) }
  }
  const attributesIn = ({ body }: Answer) => body.data.map(({ attributes }: any) => attributes)

  it.each([
    ['server:console.command', 'control.console', { command: 'op mallory' }],
    ['server:startup.edit', 'startup.read', { variable: 'RCON', old: 'a', new: 'hunter2' }],
    ['server:startup.image', 'startup.read', { old: 'a', new: 'b' }],
    ['server:file.write', 'file.read', { file: '/secret.txt' }],
    ['server:file.trash.move', 'file.read', { directory: '/', files: ['secret.txt'] }],
    ['server:file.uploaded', 'file.read', { file: 'secret.txt', directory: '/' }],
    ['server:sftp.write', 'file.read', { files: ['secret.txt'] }],
    ['server:subuser.create', 'user.read', { email: 'a@b.test', permissions: [] }],
    ['server:backup.start', 'backup.read', { name: 'before the fraud' }],
    ['server.backup.restore-failed', 'backup.read', { name: 'before the fraud' }],
    ['server:schedule.create', 'schedule.read', { name: 'Nightly' }],
    ['server:task.create', 'schedule.read', { name: 'Nightly', action: 'command', payload: 'op mallory' }],
    ['server:database.create', 'database.read', { name: 's1_secret' }],
    [
      'server:allocation.notes',
      'allocation.read',
      { allocation: '1.2.3.4:5', old: '', new: 'mallory’s port' },
    ],
    ['server:something.new', null, { note: 'secret' }],
  ])('withholds what %s was about without %s, and says so', async (event, permission, properties) => {
    await make(event, { properties })
    const granted = permission === null ? [] : [permission]
    const others = ['activity.read', 'websocket.connect', 'control.start', 'settings.rename']
    const without = await read((await subuser(...others)).token)
    expect(attributesIn(without)).toMatchObject([
      { event, properties: {}, properties_withheld: true, has_additional_metadata: false },
    ])
    for (const value of Object.values(properties).flat()) {
      if (value !== '' && String(value).length > 1) expect(without.text).not.toContain(String(value))
    }
    if (permission !== null) {
      const [seen] = attributesIn(await read((await subuser(...granted)).token))
      expect(seen).not.toHaveProperty('properties_withheld')
      expect(Object.keys(seen.properties)).toEqual(expect.arrayContaining(Object.keys(properties)))
    }
    const [whole] = attributesIn(await read(await makeClientToken(world, owner)))
    expect(whole).not.toHaveProperty('properties_withheld')
    const administrator = await makeClientToken(world, await makeUser(world, { rootAdmin: true }))
    expect(attributesIn(await read(administrator))[0]).not.toHaveProperty('properties_withheld')
  })

  it('has a rule for every event of a server that has properties', async () => {
    const named = Object.entries(activityEvents).filter(
      ([event, properties]) => event.startsWith('server') && properties.length > 0,
    )
    for (const [event] of named) await make(event, { properties: { a: 1 } })
    const everything =
      'control.console file.read user.read allocation.read startup.read backup.read schedule.read database.read'.split(
        ' ',
      )
    const seen = attributesIn(await read((await subuser(...everything)).token, '?per_page=100'))
    expect(seen).toHaveLength(named.length)
    expect(seen.filter(({ properties_withheld }: any) => properties_withheld)).toEqual([])
  })

  it('shows what is no secret, and what the subuser did', async () => {
    const friend = await subuser()
    await make('server:settings.rename', { properties: { old: 'a', new: 'b' }, ago: 1 })
    await make('server:console.command', { properties: { command: 'say hi' }, actorId: friend.id })
    expect(attributesIn(await read(friend.token))).toMatchObject([
      { properties: { command: 'say hi' } },
      { properties: { new: 'b' } },
    ])
  })

  it('hides the e-mail address of an actor, and the picture that tells it, without user.read', async () => {
    await make('server:power.start')
    const hash = createHash('md5').update(owner.email.toLowerCase()).digest('hex')
    const { token, id } = await subuser('file.read')
    const hidden = await read(token, '?include=actor')
    expect(hidden.text).not.toContain(owner.email)
    expect(hidden.text).not.toContain(hash)
    expect(attributesIn(hidden)[0].relationships.actor.attributes).toMatchObject({
      username: owner.username,
      email: '[hidden]',
    })
    const shown = await read((await subuser('user.read')).token, '?include=actor')
    expect(attributesIn(shown)[0].relationships.actor.attributes.email).toBe(owner.email)
    await make('server:power.stop', { actorId: id })
    const [own] = attributesIn(await read(token, '?include=actor'))
    expect(own.relationships.actor.attributes.email).toContain('@')
  })

  it('no other route tells a subuser without permissions what the feed withholds', async () => {
    const { token } = await subuser('activity.read')
    for (const path of [
      '/startup',
      '/users',
      '/backups',
      '/schedules',
      '/schedules/1/runs',
      '/databases',
      '/network/allocations',
      '/files/list',
      '/trash',
      '/websocket',
    ]) {
      const { status } = await world.request('GET', `/api/client/servers/${server.uuid}${path}`, { token })
      expect(status, path).toBe(403)
    }
    const all = '?include=subusers,variables,allocations'
    const { body, text } = await world.request('GET', `/api/client/servers/${server.uuid}${all}`, { token })
    expect(body.attributes.relationships.subusers.object).toBe('null_resource')
    expect(body.attributes.relationships.variables.object).toBe('null_resource')
    expect(text).not.toContain(owner.email)
  })
})
