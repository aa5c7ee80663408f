import { eq, inArray } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { apiKeys, sessions } from '../../src/db/schema.ts'
import { createSession, sessionId } from '../../src/domain/auth/sessions.ts'
import { pageHeaders } from '../support/browser.ts'
import { testDriver } from '../support/database.ts'
import { makeKey, makeUser } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
const path = '/api/client/permissions'
let user: Awaited<ReturnType<typeof makeUser>>

beforeEach(async () => {
  user = await makeUser(world)
})

/** Makes a key that was not used for an hour. */
const makeUnusedKey = () =>
  makeKey(world, user, { type: 'account', lastUsedAt: new Date(world.clock.now.getTime() - 3_600_000) })
const request = (token: string) => world.request('GET', path, { token })
const usesOf = async (ids: number[]) => {
  const rows = await world.database.db.select().from(apiKeys).where(inArray(apiKeys.id, ids))
  return rows.map(({ lastUsedAt }) => lastUsedAt)
}
const writes = (table: string) =>
  world.database.statements.filter((text) => text.includes(`update "${table}"`)).length

describe('the use of a key', () => {
  it('is noted beside the answer, with those of other keys in one statement', async () => {
    const keys = await Promise.all(Array.from({ length: 20 }, makeUnusedKey))
    world.database.statements.length = 0
    const answers = await Promise.all(keys.map(({ token }) => request(token)))
    expect(answers.map(({ status }) => status)).toEqual(keys.map(() => 200))
    expect(await usesOf(keys.map(({ row }) => row.id))).toEqual(keys.map(() => world.clock.now))
    // The first at once, and what came meanwhile.
    expect(writes('api_keys')).toBeLessThanOrEqual(3)
  })

  it('is noted before the answer the first time, so that the next request finds it', async () => {
    const keys = await Promise.all(
      Array.from({ length: 3 }, () => makeKey(world, user, { type: 'account', lastUsedAt: null })),
    )
    for (const { token, row } of keys) {
      await world.app.request(path, { headers: { authorization: `Bearer ${token}` } })
      expect(await usesOf([row.id])).toEqual([world.clock.now])
    }
    expect(world.background).toEqual([])
  })

  it('is shown to the request that uses it', async () => {
    const key = await makeUnusedKey()
    const answer = await world.app.request('/api/client/account/api-keys', {
      headers: { authorization: `Bearer ${key.token}` },
    })
    const { data } = (await answer.json()) as { data: { attributes: { last_used_at: string } }[] }
    expect(data.map(({ attributes }) => Date.parse(attributes.last_used_at))).toEqual([
      Math.floor(world.clock.now.getTime() / 1000) * 1000,
    ])
  })

  it('is noted by each request itself on platforms where requests cannot share their work', async () => {
    Object.assign(world.services, { inFlight: null })
    const keys = [await makeUnusedKey(), await makeUnusedKey()]
    world.database.statements.length = 0
    await Promise.all(keys.map(({ token }) => request(token)))
    expect(await usesOf(keys.map(({ row }) => row.id))).toEqual(keys.map(() => world.clock.now))
    expect(writes('api_keys')).toBe(2)
  })

  it('is not noted of a wrong secret, and is of a key that is refused', async () => {
    const wrong = await makeUnusedKey()
    expect((await request(`${wrong.row.identifier}${'x'.repeat(32)}`)).status).toBe(401)
    const expired = await makeKey(world, user, {
      type: 'account',
      lastUsedAt: null,
      expiresAt: world.clock.now,
    })
    expect((await request(expired.token)).status).toBe(401)
    expect(await usesOf([wrong.row.id])).toEqual([wrong.row.lastUsedAt])
    expect(await usesOf([expired.row.id])).toEqual([world.clock.now])
  })

  it('changes nothing else of the key, and takes no time back', async () => {
    const { row, token } = await makeUnusedKey()
    const later = new Date(world.clock.now.getTime() + 1000)
    await request(token)
    const [used] = await world.database.db.select().from(apiKeys).where(eq(apiKeys.id, row.id))
    expect(used).toEqual({ ...row, lastUsedAt: world.clock.now })
    await world.database.db.update(apiKeys).set({ lastUsedAt: later }).where(eq(apiKeys.id, row.id))
    await request(token)
    expect(await usesOf([row.id])).toEqual([later])
  })

  it.skipIf(testDriver === 'pglite')('waits for no transaction that has locked the key', async () => {
    const [locked, free] = [await makeUnusedKey(), await makeUnusedKey()]
    await world.database.transaction(async (tx) => {
      await tx.select().from(apiKeys).where(eq(apiKeys.id, locked.row.id)).for('update')
      expect((await request(locked.token)).status).toBe(200)
      expect((await request(free.token)).status).toBe(200)
    })
    expect(await usesOf([locked.row.id])).toEqual([locked.row.lastUsedAt])
    expect(await usesOf([free.row.id])).toEqual([world.clock.now])
  })
})

describe('the use of sessions', () => {
  it('extends them in one statement, each by its own lifetime', async () => {
    const day = 86_400_000
    const open = (remember: boolean) =>
      createSession(world.panel, user, { userAgent: '', previous: null, remember })
    const opened = await Promise.all([open(false), open(true), open(false), open(true)])
    world.clock.advance(3600)
    world.database.statements.length = 0
    await Promise.all(
      opened.map(({ token }) => world.request('GET', path, { headers: pageHeaders(world, token) })),
    )
    const rows = await world.database.db.select().from(sessions)
    const found = opened.map(({ token }) => rows.find(({ id }) => id === sessionId(token)))
    expect(found.map((row) => row?.lastActiveAt)).toEqual(found.map(() => world.clock.now))
    const lifetimes = found.map((row) => (row?.expiresAt.getTime() ?? 0) - world.clock.now.getTime())
    expect(lifetimes).toEqual([day / 2, 30 * day, day / 2, 30 * day])
    expect(writes('sessions')).toBeLessThanOrEqual(3)
  })
})
