import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { openMoveInHost } from '../../src/cli/move-in-host/open-host.ts'
import { activity, eggs, movedRows, nests, servers, settings, users } from '../../src/db/schema.ts'
import type { MoveInHost } from '../../src/platform/move-in-host.ts'
import { appKeyText } from '../cli/old-panel.ts'
import { textDump } from '../cli/text-dump.ts'
import {
  makeApplicationToken,
  makeEgg,
  makeKey,
  makeRoleHolder,
  makeUser,
  fullAcl,
} from '../support/factories.ts'
import { until } from '../support/until.ts'
import { panelUrl, useWorld } from '../support/world.ts'

const world = useWorld()
const path = '/api/application/move-in'
const dump = textDump('1.12')
const wrongKey = `base64:${Buffer.alloc(32, 9).toString('base64')}`
const keys = { kind: 'pterodactyl', app_key: appKeyText }
let token: string
let host: MoveInHost
let work: Promise<unknown>[]

const openHost = () =>
  openMoveInHost({
    panel: world.panel,
    dataDirectory: world.folder,
    addBackground: (running) => void work.push(running),
  })

beforeEach(async () => {
  token = await makeApplicationToken(world)
  work = []
  await rm(join(world.folder, 'move-in'), { recursive: true, force: true })
  host = openHost()
  Object.assign(world.services, { moveIn: host.moveIn })
})

const call = (method: string, route = '', body?: object) =>
  world.request(method, path + route, { token, ...(body && { body }) })
const show = async () => (await call('GET')).body.attributes
/** Waits for what goes on after an answer, and returns the move then. */
const settle = async () => {
  await Promise.all(work.splice(0))
  return show()
}

async function upload(file: Uint8Array | string | ReadableStream, name = 'panel.sql', caller = token) {
  const request = new Request(`${panelUrl}${path}/dump?name=${name}`, {
    method: 'POST',
    body: file as BodyInit,
    headers: { authorization: `Bearer ${caller}`, accept: 'application/json' },
    duplex: 'half',
  } as RequestInit)
  const response = await world.app.fetch(request)
  return { status: response.status, body: (await response.json()) as any }
}

const files = () => readdir(join(world.folder, 'move-in')).catch(() => [])
const storedSettings = async () =>
  JSON.stringify(await world.database.db.select({ key: settings.key, value: settings.value }).from(settings))

describe('a move from another panel', () => {
  it('is uploaded, checked, moved and compared, and leaves neither dump nor keys', async () => {
    const { status, body } = await upload(gzipSync(dump), 'panel.sql.gz')
    expect([status, body.attributes.stage, body.attributes.file.name]).toEqual([
      200,
      'uploaded',
      'panel.sql.gz',
    ])
    const checking = await call('POST', '/check', { ...keys, timezone: 'Europe/Berlin' })
    expect([checking.status, checking.body.attributes.stage]).toEqual([202, 'checking'])
    const checked = await settle()
    expect(checked).toMatchObject({
      stage: 'checked',
      can_start: true,
      timezone: 'Europe/Berlin',
      fault: null,
    })
    expect(checked.report.tables).toContainEqual({ table: 'servers', found: 4, movable: 2, written: null })
    expect(checked.report.findings).toContainEqual(
      expect.objectContaining({ table: 'servers', what: 'left out' }),
    )
    expect(await world.database.db.select().from(servers)).toEqual([])
    const stored = await storedSettings()
    expect(stored).toContain('move_in.keys')
    expect(stored + JSON.stringify(checked)).not.toContain(appKeyText.slice(7, 30))
    const starting = await call('POST', '/start', {})
    expect([starting.status, starting.body.attributes.stage]).toEqual([202, 'moving'])
    const done = await settle()
    expect(done, JSON.stringify(done.fault)).toMatchObject({
      stage: 'done',
      differences: [],
      fault: null,
      has_moved: true,
    })
    expect(done.report.tables).toContainEqual({ table: 'servers', found: 4, movable: 2, written: 2 })
    expect(await world.database.db.select({ id: servers.id }).from(servers).orderBy(servers.id)).toEqual([
      { id: 30 },
      { id: 31 },
    ])
    expect(await files()).toEqual([])
    expect(await storedSettings()).not.toContain('move_in.keys')
    const recorded = (await world.events()).filter((event) => event.startsWith('admin:move-in'))
    expect(recorded).toEqual(['admin:move-in.start', 'admin:move-in.end'])
    const [end] = await world.database.db
      .select()
      .from(activity)
      .where(eq(activity.event, 'admin:move-in.end'))
    expect(end?.properties).toEqual({ panel: 'pterodactyl', outcome: 'done' })
    expect((await call('DELETE')).status).toBe(204)
    expect(await show()).toMatchObject({ stage: null, report: null, file: null })
  })

  it('gives users and eggs that are here other ids, and what names them follows', async () => {
    const { db } = world.database
    let admin = await makeUser(world, { rootAdmin: true })
    while (admin.id < 5) admin = await makeUser(world, { rootAdmin: true })
    const egg = await makeEgg(world)
    await db.update(users).set({ firstName: 'Here' }).where(eq(users.id, 5))
    const own = (await makeKey(world, { id: 5 }, { type: 'application', acl: fullAcl })).token
    const nest = await db.select().from(nests).where(eq(nests.id, egg.nestId))
    await upload(dump, 'panel.sql', own)
    await world.request('POST', `${path}/check`, { token: own, body: keys })
    const { report } = await settle()
    expect(report.findings).toContainEqual({
      table: 'users',
      what: 'changed',
      reason: 'the row of this panel with its id gets another id',
      count: 1,
      ids: [5],
    })
    await world.request('POST', `${path}/start`, { token: own, body: {} })
    const done = await settle()
    expect(done, JSON.stringify(done.fault)).toMatchObject({ stage: 'done', differences: [] })
    const [moved] = await db.select().from(users).where(eq(users.firstName, 'Here'))
    expect(moved?.id).toBeGreaterThan(6)
    const [ada] = await db.select().from(users).where(eq(users.id, 5))
    expect(ada?.username).toBe('ada')
    // The key belongs to the same account, and so does what it did.
    expect((await world.request('GET', path, { token: own })).status).toBe(200)
    const [start] = await db.select().from(activity).where(eq(activity.event, 'admin:move-in.start'))
    expect(start?.actorId).toBe(moved?.id)
    expect((await makeUser(world)).id).toBeGreaterThan(moved?.id ?? 0)
    expect(
      await db
        .select()
        .from(nests)
        .where(eq(nests.uuid, nest[0]?.uuid ?? '')),
    ).toHaveLength(1)
    expect(await db.select().from(eggs).where(eq(eggs.uuid, egg.uuid))).toHaveLength(1)
  })

  it('needs the right key, and checks again with it', async () => {
    await upload(dump)
    expect(await world.countStatements(show)).toBeLessThanOrEqual(2)
    await call('POST', '/check', { ...keys, app_key: wrongKey })
    const refused = await settle()
    expect([refused.stage, refused.can_start]).toEqual(['checked', false])
    expect(refused.report.findings).toContainEqual(
      expect.objectContaining({
        what: 'refused',
        reason: expect.stringContaining('another key than APP_KEY'),
      }),
    )
    const { status, body } = await call('POST', '/start', {})
    expect([status, body.errors[0].meta.reason]).toEqual([409, 'move_in_refused'])
    await call('POST', '/check', { ...keys, app_key: wrongKey, previous_keys: [appKeyText] })
    expect(await settle()).toMatchObject({ stage: 'checked', can_start: true })
    const short = await call('POST', '/check', { ...keys, app_key: 'base64:c2hvcnQ=' })
    expect([short.status, short.body.errors[0].meta.source_field]).toEqual([422, 'app_key'])
  })

  it('says what is wrong with a dump, and keeps it for another check', async () => {
    await upload(gzipSync(dump).subarray(0, -400), 'torn.sql.gz')
    await call('POST', '/check', keys)
    const { stage, fault } = await settle()
    expect([stage, fault.error]).toEqual(['uploaded', expect.stringMatching(/torn|damaged|cut off/)])
    expect(await storedSettings()).not.toContain('move_in.keys')
  })

  it('keeps nothing of an upload that does not come whole', async () => {
    let sent = 0
    const torn = new ReadableStream({
      pull: (controller) => {
        if (sent++ < 3) controller.enqueue(new TextEncoder().encode(dump.slice(0, 100_000)))
        else controller.error(new Error('The connection was lost.'))
      },
    })
    const { status, body } = await upload(torn)
    expect([status, body.errors[0].meta.reason]).toEqual([400, 'body_incomplete'])
    expect([await files(), (await show()).stage]).toEqual([[], null])
    expect((await upload('')).status).toBe(422)
    expect(await files()).toEqual([])
  })

  it('is one at a time', async () => {
    const first = Promise.withResolvers<void>()
    const slow = new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode(dump)),
      pull: async (controller) => {
        await first.promise
        controller.close()
      },
    })
    const uploading = upload(slow)
    await until(async () => expect((await show()).stage).toBe('uploading'))
    expect((await upload(dump)).body.errors[0].meta.reason).toBe('move_in_taken')
    first.resolve()
    expect((await uploading).status).toBe(200)
    expect((await upload(dump)).status).toBe(409)
    const [one, other] = await Promise.all([call('POST', '/check', keys), call('POST', '/check', keys)])
    expect([one.status, other.status].toSorted((a, b) => a - b)).toEqual([202, 409])
    await settle()
  })

  it('is for root administrators of panels that have a disk', async () => {
    const { id } = await makeRoleHolder(world, fullAcl)
    const holder = (await makeKey(world, { id }, { type: 'application', acl: fullAcl })).token
    expect((await world.request('GET', path, { token: holder })).status).toBe(403)
    expect((await upload(dump, 'panel.sql', holder)).status).toBe(403)
    expect(await files()).toEqual([])
    delete (world.services as { moveIn?: unknown }).moveIn
    const { status, body } = await call('GET')
    expect([status, body.errors[0].meta.reason]).toEqual([404, 'move_in_needs_node'])
    expect((await upload(dump)).status).toBe(404)
  })

  it('is deleted when it is cancelled, a day after its upload, and when its process ended', async () => {
    await upload(dump)
    await call('POST', '/check', keys)
    await settle()
    expect((await call('DELETE')).status).toBe(204)
    expect([await files(), (await show()).stage]).toEqual([[], null])

    await upload(dump)
    await call('POST', '/check', keys)
    await settle()
    world.clock.advance(23 * 3600)
    await host.tidy({ isStart: false })
    expect([await files(), (await show()).stage]).toEqual([[expect.any(String)], 'checked'])
    world.clock.advance(2 * 3600)
    await host.tidy({ isStart: false })
    expect([await files(), (await show()).stage]).toEqual([[], 'expired'])
    expect(await storedSettings()).not.toContain('move_in.keys')

    await upload(dump)
    await call('POST', '/check', keys)
    // Its work is left behind, as that of a process that was killed.
    await openHost().tidy({ isStart: true })
    // The rows of what still runs may be there.
    expect((await files()).filter((name) => name.endsWith('.dump'))).toEqual([])
    expect((await show()).stage).toBe('interrupted')
    await settle()
    expect([await files(), (await show()).stage]).toEqual([[], 'interrupted'])
    expect(await world.database.db.select().from(movedRows)).toEqual([])
  })
})
