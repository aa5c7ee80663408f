import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { eq } from 'drizzle-orm'
import { expect, it } from 'vitest'
import { openMoveInHost } from '../../src/cli/move-in-host/open-host.ts'
import {
  activity,
  apiKeys,
  bulkOperations,
  eggs,
  jobs,
  locations,
  sessions,
  users,
} from '../../src/db/schema.ts'
import { enqueueJob } from '../../src/domain/jobs/enqueue.ts'
import { enqueueEmailVerification, enqueueInvitation } from '../../src/domain/mail/enqueue.ts'
import { inTransaction } from '../../src/panel.ts'
import { appKeyText } from '../cli/old-panel.ts'
import { textDump } from '../cli/text-dump.ts'
import { fullAcl, makeEgg, makeKey, makeUser } from '../support/factories.ts'
import { panelUrl, useWorld } from '../support/world.ts'

const world = useWorld()
const path = '/api/application/move-in'

/** Moves the old panel in, whose users have the ids 5 and 6, keys 1 and 2, the location 3 and the eggs 21 and 22. */
async function moveIn(token: string): Promise<void> {
  await rm(join(world.folder, 'move-in'), { recursive: true, force: true })
  const work: Promise<unknown>[] = []
  const { moveIn: service } = openMoveInHost({
    panel: world.panel,
    dataDirectory: world.folder,
    addBackground: (running) => void work.push(running),
  })
  Object.assign(world.services, { moveIn: service })
  const post = async (route: string, body: object | string) =>
    expect((await world.request('POST', path + route, { token, body })).status).toBeLessThan(300)
  const upload = await world.app.fetch(
    new Request(`${panelUrl}${path}/dump?name=panel.sql`, {
      method: 'POST',
      body: textDump('1.12'),
      headers: { authorization: `Bearer ${token}`, accept: 'application/json' },
    }),
  )
  expect(upload.status).toBe(200)
  await post('/check', { kind: 'pterodactyl', app_key: appKeyText })
  await Promise.all(work.splice(0))
  await post('/start', {})
  await Promise.all(work.splice(0))
  const { stage, fault, differences } = (await world.request('GET', path, { token })).body.attributes
  expect({ stage, fault, differences }).toEqual({ stage: 'done', fault: null, differences: [] })
}

it('names rows that get other ids everywhere: in columns without a key, in JSON and in the keys of jobs', async () => {
  const { db } = world.database
  let admin = await makeUser(world, { rootAdmin: true })
  while (admin.id < 6) admin = await makeUser(world, { rootAdmin: true })
  const key = await makeKey(world, { id: 5 }, { type: 'application', acl: fullAcl })
  let egg = await makeEgg(world)
  while (egg.id < 21) egg = await makeEgg(world)
  const setup = { egg_id: 21, is_dismissed: true }
  expect(
    (await world.request('PATCH', '/api/application/setup', { token: key.token, body: setup })).status,
  ).toBe(200)
  const keyOf = async () => {
    const [found] = await db
      .select({ user: apiKeys.userId, key: apiKeys.id })
      .from(apiKeys)
      .where(eq(apiKeys.identifier, key.token.slice(0, 16)))
    return found
  }
  const before = await keyOf()
  expect(before).toEqual({ user: 5, key: 1 })
  await db.insert(locations).overridingSystemValue().values({ id: 3, short: 'here' })
  await db.insert(bulkOperations).values({
    action: 'suspend',
    userId: 5,
    apiKeyId: before?.key ?? 0,
    ip: '10.0.0.1',
    createdAt: world.panel.now(),
  })
  const later = new Date(world.panel.now().getTime() + 3_600_000)
  const challenge = { userId: 5, authVersion: 0, tokenHash: '', expiresAt: '', tries: 0, remember: false }
  const oauth = {
    provider: 'google',
    state: '',
    verifier: '',
    nonce: '',
    purpose: 'link',
    expiresAt: '',
  } as const
  await db.insert(sessions).values([
    { id: 'challenge', data: { challenge }, ip: '10.0.0.1', expiresAt: later },
    { id: 'oauth', data: { oauth: { ...oauth, userId: 5 } }, userId: 5, ip: '10.0.0.1', expiresAt: later },
  ])
  await inTransaction(world.panel, async (tx) => {
    await enqueueEmailVerification(tx, 5)
    await enqueueInvitation(tx, { userId: 5, serverId: 99 })
    await enqueueJob(tx, 'configure-nodes', { locationIds: [2, 3] }, { key: 'regions' })
  })

  await moveIn(key.token)

  const here = await keyOf()
  const own = here?.user ?? 0
  expect([own > 6, (here?.key ?? 0) > 2]).toEqual([true, true])
  const shown = await world.request('GET', '/api/application/setup', { token: key.token })
  const [chosen] = await db.select({ id: eggs.id }).from(eggs).where(eq(eggs.uuid, egg.uuid))
  expect([shown.body.attributes.egg_id, (chosen?.id ?? 0) > 22]).toEqual([chosen?.id, true])
  expect(
    await db.select({ user: bulkOperations.userId, key: bulkOperations.apiKeyId }).from(bulkOperations),
  ).toEqual([{ user: own, key: here?.key }])
  const data = await db.select({ id: sessions.id, data: sessions.data, user: sessions.userId }).from(sessions)
  const dataOf = (id: string) => data.find((each) => each.id === id)
  expect(dataOf('challenge')?.data.challenge?.userId).toBe(own)
  expect([dataOf('oauth')?.data.oauth?.userId, dataOf('oauth')?.user]).toEqual([own, own])
  const [location] = await db.select().from(locations).where(eq(locations.short, 'here'))
  const waiting = await db
    .select({ key: jobs.key, payload: jobs.payload })
    .from(jobs)
    .where(eq(jobs.state, 'waiting'))
  const payloadOf = (key: string) => waiting.find((each) => each.key === key)?.payload
  expect(payloadOf(`email-verification:${own}`)).toMatchObject({ userId: own })
  expect(payloadOf(`server-access:99:${own}`)).toMatchObject({ userId: own })
  expect(payloadOf('regions')).toEqual({ locationIds: [2, location?.id] })
  const [start] = await db.select().from(activity).where(eq(activity.event, 'admin:move-in.start'))
  expect([start?.actorId, start?.apiKeyId]).toEqual([own, here?.key])
  expect(await db.select({ id: users.id }).from(users).where(eq(users.username, 'ada'))).toEqual([{ id: 5 }])
})
