import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { nodes, schedules, scheduleRuns, servers, transfers } from '../../src/db/schema.ts'
import { makeClientToken, makeServer, makeUser } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'
import {
  command,
  hourly,
  notFound,
  createScheduleFixtures,
  listEvents,
  refusalIn,
  type ScheduleFixtures,
  scheduleResource,
  taskResource,
} from './schedule-fixtures.ts'

const world = useWorld()
let fixtures: ScheduleFixtures

beforeEach(async () => {
  fixtures = await createScheduleFixtures(world)
})

describe('a schedule', () => {
  it('is added, shown, listed, changed and removed', async () => {
    const added = await fixtures.post('', hourly)
    const { id } = added.body.attributes
    expect(added.body).toEqual(scheduleResource(id))
    const task = await fixtures.addTask(id)
    expect((await fixtures.get(`/${id}`)).body).toEqual(scheduleResource(id, {}, [taskResource(task)]))
    const second = await fixtures.add({ name: 'Second' })
    expect((await fixtures.get()).body).toEqual({
      object: 'list',
      data: [scheduleResource(id, {}, [taskResource(task)]), scheduleResource(second, { name: 'Second' })],
    })
    const changes = {
      ...hourly,
      name: ' Nightly ',
      hour: 4,
      minute: '30',
      day_of_week: 'MON-FRI',
      is_active: '1',
      only_when_online: true,
    }
    const changed = scheduleResource(
      id,
      {
        name: 'Nightly',
        cron: { day_of_week: 'MON-FRI', day_of_month: '*', month: '*', hour: '4', minute: '30' },
        is_active: true,
        only_when_online: true,
        next_run_at: '2031-03-03T04:30:00+00:00',
        updated_at: '2031-03-01T12:00:00+00:00',
      },
      [taskResource(task)],
    )
    expect((await fixtures.post(`/${id}`, changes)).body).toEqual(changed)
    expect((await fixtures.get(`/${id}`)).body).toEqual(changed)
    expect((await fixtures.remove(`/${id}`)).status).toBe(204)
    expect(refusalIn(await fixtures.get(`/${id}`))).toEqual(notFound)
    expect((await fixtures.get()).body.data).toEqual([scheduleResource(second, { name: 'Second' })])
  })

  it('is recorded with what was done to it', async () => {
    const id = await fixtures.add()
    await fixtures.post(`/${id}`, { ...hourly, name: 'Later', is_active: true })
    await fixtures.post(`/${id}`, { ...hourly, name: 'Later' })
    await fixtures.remove(`/${id}`)
    expect(await listEvents(world)).toEqual([
      ['server:schedule.create', { name: 'Hourly' }],
      ['server:schedule.update', { name: 'Later', active: true }],
      ['server:schedule.update', { name: 'Later', active: false }],
      ['server:schedule.delete', { name: 'Later' }],
    ])
  })

  it('comes every month, in the zone of the panel and always, unless said otherwise', async () => {
    const { month: _month, ...fields } = hourly
    const id = await fixtures.add(fields)
    expect((await fixtures.get(`/${id}`)).body).toEqual(scheduleResource(id))
    const config = { ...world.services.config, timezone: 'Asia/Kolkata' }
    Object.assign(world.services, { config })
    const other = await fixtures.add({ hour: '4', month: null })
    const { attributes } = (await fixtures.get(`/${other}`)).body
    expect([attributes.timezone, attributes.next_run_at]).toEqual([
      'Asia/Kolkata',
      '2031-03-01T22:30:00+00:00',
    ])
  })

  it('has a zone of its own, which clients that know of none leave as it is', async () => {
    const id = await fixtures.add({ hour: '4', timezone: 'Europe/Berlin' })
    const now = async () => (await fixtures.get(`/${id}`)).body.attributes
    expect(await now()).toMatchObject({ timezone: 'Europe/Berlin', next_run_at: '2031-03-02T03:00:00+00:00' })
    await fixtures.post(`/${id}`, { ...hourly, hour: '5' })
    expect(await now()).toMatchObject({ timezone: 'Europe/Berlin', next_run_at: '2031-03-02T04:00:00+00:00' })
    await fixtures.post(`/${id}`, { ...hourly, hour: '5', timezone: 'America/New_York' })
    expect(await now()).toMatchObject({
      timezone: 'America/New_York',
      next_run_at: '2031-03-02T10:00:00+00:00',
    })
  })

  it('counts as processing no more when its activity changes, and only then', async () => {
    const id = await fixtures.add({ is_active: true })
    const process = () => world.database.db.update(schedules).set({ isProcessing: true })
    const after = async (fields: object) => {
      await process()
      return (await fixtures.post(`/${id}`, { ...hourly, ...fields })).body.attributes.is_processing
    }
    expect(await after({ is_active: true })).toBe(true)
    expect(await after({ is_active: false })).toBe(false)
    expect(await after({ is_active: false })).toBe(true)
    expect(await after({ is_active: true })).toBe(false)
    expect(await after({})).toBe(false)
    expect(await after({})).toBe(true)
  })

  it('is not another server’s', async () => {
    const foreign = await createScheduleFixtures(world)
    const id = await foreign.add()
    const task = await foreign.addTask(id)
    for (const answer of [
      await fixtures.get(`/${id}`),
      await fixtures.post(`/${id}`, hourly),
      await fixtures.remove(`/${id}`),
      await fixtures.post(`/${id}/execute`),
      await fixtures.get(`/${id}/runs`),
      await fixtures.post(`/${id}/tasks`, command),
      await fixtures.post(`/${id}/tasks/${task}`, command),
      await fixtures.remove(`/${id}/tasks/${task}`),
    ]) {
      expect(refusalIn(answer)).toEqual(notFound)
    }
    expect((await fixtures.get()).body.data).toEqual([])
    expect((await foreign.get(`/${id}`)).body).toEqual(scheduleResource(id, {}, [taskResource(task)]))
    expect(await listEvents(world)).toHaveLength(2)
  })

  it('that does not exist is not found', async () => {
    for (const id of ['0', '99', '2147483648', 'abc', '1.5', '-1']) {
      expect(refusalIn(await fixtures.get(`/${id}`))).toEqual(notFound)
      expect(refusalIn(await fixtures.get(`/${id}/runs`))).toEqual(notFound)
    }
  })
})

describe('what each route needs', () => {
  const calls: [
    permission: string,
    ask: (id: number, as: string) => Promise<{ status: number; body: any }>,
  ][] = [
    ['schedule.read', (_id, as) => fixtures.get('', undefined, as)],
    ['schedule.read', (id, as) => fixtures.get(`/${id}`, undefined, as)],
    ['schedule.read', (id, as) => fixtures.get(`/${id}/runs`, undefined, as)],
    [
      'schedule.read',
      (_id, as) => fixtures.get('/preview?minute=0&hour=*&day_of_month=*&day_of_week=*', undefined, as),
    ],
    ['schedule.create', (_id, as) => fixtures.post('', hourly, as)],
    ['schedule.update', (id, as) => fixtures.post(`/${id}`, hourly, as)],
    ['schedule.delete', (id, as) => fixtures.remove(`/${id}`, undefined, as)],
  ]

  it('is one permission, and no other will do', async () => {
    const names = ['schedule.read', 'schedule.create', 'schedule.update', 'schedule.delete']
    for (const [permission, ask] of calls) {
      const id = await fixtures.add()
      const without = await fixtures.subuser(
        ...names.filter((name) => name !== permission),
        'control.console',
      )
      expect((await ask(id, without)).status).toBe(403)
      expect((await ask(id, without)).body.errors[0].code).toBe('AccessDeniedHttpException')
      expect((await ask(id, await fixtures.subuser(permission))).status).toBeLessThan(300)
    }
  })

  it('is a server that the caller reaches', async () => {
    const otherUser = await makeClientToken(world, await makeUser(world))
    const id = await fixtures.add()
    for (const [, ask] of calls) expect((await ask(id, otherUser)).status).toBe(404)
    const administrator = await makeClientToken(world, await makeUser(world, { rootAdmin: true }))
    for (const [, ask] of calls) expect((await ask(id, administrator)).status).toBeLessThan(300)
  })
})

describe('a server that cannot be acted on', () => {
  it('refuses everything, to every caller', async () => {
    const id = await fixtures.add()
    const task = await fixtures.addTask(id)
    const callers = [
      fixtures.token,
      await fixtures.subuser(
        'schedule.read',
        'schedule.create',
        'schedule.update',
        'schedule.delete',
        'control.console',
      ),
      await makeClientToken(world, await makeUser(world, { rootAdmin: true })),
    ]
    const refuseAll = async () => {
      for (const as of callers) {
        for (const answer of [
          await fixtures.get('', undefined, as),
          await fixtures.get(`/${id}`, undefined, as),
          await fixtures.get(`/${id}/runs`, undefined, as),
          await fixtures.get('/preview', undefined, as),
          await fixtures.post('', hourly, as),
          await fixtures.post(`/${id}`, hourly, as),
          await fixtures.post(`/${id}/execute`, undefined, as),
          await fixtures.remove(`/${id}`, undefined, as),
          await fixtures.post(`/${id}/tasks`, command, as),
          await fixtures.post(`/${id}/tasks/${task}`, command, as),
          await fixtures.remove(`/${id}/tasks/${task}`, undefined, as),
        ]) {
          expect(refusalIn(answer)).toEqual([409, 'ServerStateConflictException'])
        }
      }
    }
    const { db } = world.database
    for (const status of ['suspended', 'installing', 'install_failed', 'restoring_backup'] as const) {
      await db.update(servers).set({ status })
      await refuseAll()
    }
    await db.update(servers).set({ status: null })
    await db.update(nodes).set({ maintenanceMode: true })
    await refuseAll()
    await db.update(nodes).set({ maintenanceMode: false })
    const { id: serverId, nodeId } = fixtures.server
    const moving = { serverId, oldNodeId: nodeId, newNodeId: nodeId, oldAllocationId: 1, newAllocationId: 1 }
    await db.insert(transfers).values(moving)
    await refuseAll()
    await db.delete(transfers)
    await db.update(servers).set({ status: 'reinstall_failed' })
    expect((await fixtures.get()).status).toBe(200)
    expect(await world.events()).toHaveLength(2)
    expect(await db.select().from(scheduleRuns)).toEqual([])
  })
})

describe('a list', () => {
  it('is one statement beyond the credential, however long', async () => {
    for (let count = 0; count < 5; count += 1) await fixtures.addTask(await fixtures.add())
    expect(await world.countStatements(() => fixtures.get())).toBe(2)
    const other = await makeServer(world, { ownerId: fixtures.owner.id })
    await world.database.db.update(schedules).set({ serverId: other.id }).where(eq(schedules.id, 1))
    expect((await fixtures.get()).body.data).toHaveLength(4)
  })
})
