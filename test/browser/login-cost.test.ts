import { hash } from 'bcryptjs'
import { eq } from 'drizzle-orm'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { users } from '../../src/db/schema.ts'
import type { User } from '../../src/db/tables/users.ts'
import { hashPassword } from '../../src/domain/auth/password-hash.ts'
import { type Browser, openBrowser, openSignedInBrowser } from '../support/browser.ts'
import { makeUser } from '../support/factories.ts'
import { measureHashes } from '../support/measure-hashes.ts'
import { delayHashes } from '../support/delayed-hashes.ts'
import { giveSecondFactor } from '../support/second-factor.ts'
import { cheapPasswords, useWorld } from '../support/world.ts'
import { until } from '../support/until.ts'

const world = useWorld()
const password = 'correct horse battery'
let passwordHash: string
let mara: User

beforeAll(async () => {
  passwordHash = await hashPassword(password, cheapPasswords)
})

beforeEach(async () => {
  mara = await makeUser(world, { username: 'mara', email: 'mara@example.test', passwordHash })
  await giveSecondFactor(world, await makeUser(world, { username: 'twofold', passwordHash }))
  await makeUser(world, { username: 'keyless', passwordHash: null })
})

/** Signs in; returns the response and its cost. Begin and commit do not count as statements. */
async function signIn(user: string, shown = password) {
  const browser = await openBrowser(world)
  let answer = { status: 0, body: null as any }
  let hashes = 0
  const statements = await world.countStatements(async () => {
    const work = await measureHashes(async () => {
      answer = await browser.request('POST', '/auth/login', { user, password: shown })
    })
    hashes = work.hashes
  })
  return { status: answer.status, body: answer.body, hashes, statements }
}

const keep = (stored: string) =>
  world.database.db.update(users).set({ passwordHash: stored }).where(eq(users.id, mara.id))
const storedHash = async () =>
  (await world.database.db.select().from(users).where(eq(users.id, mara.id)))[0]?.passwordHash
const importedHash = async () => (await hash(password, 4)).replace('$2b$', '$2y$')

describe('signing in costs one hash and four statements', () => {
  it.each([
    ['success', 'mara', password, 200],
    ['success by address', 'mara@example.test', password, 200],
    ['the checkpoint', 'twofold', password, 200],
    ['a wrong password', 'mara', 'x', 400],
    ['an unknown user', 'unknown', 'x', 400],
    ['a wrong password with a second factor', 'twofold', 'x', 400],
    ['an account without a password', 'keyless', 'x', 400],
  ])('on %s', async (_outcome, user, shown, status) => {
    const { body, ...cost } = await signIn(user, shown)
    expect(cost).toEqual({ status, hashes: 1, statements: 4 })
    if (status === 200) expect(body.data.complete).toBe(user !== 'twofold')
  })

  it('and no hash once there were too many attempts', async () => {
    for (let at = 0; at < 5; at += 1) await signIn('mara', 'x')
    expect(await signIn('mara')).toMatchObject({ status: 429, hashes: 0 })
  })
})

describe('a hash that is not as new ones are', () => {
  it('takes the work of a new one beside its own where the password is wrong, and stays', async () => {
    for (const [stored, hashes] of [
      [await importedHash(), 1],
      [await hashPassword(password, { N: 512, r: 8, p: 1 }), 2],
    ] as const) {
      await keep(stored)
      expect(await signIn('mara', 'x')).toMatchObject({ status: 400, hashes, statements: 4 })
      expect(await storedHash()).toBe(stored)
    }
  })

  it('gives way at the first success, at no further cost', async () => {
    await keep(await importedHash())
    expect(await signIn('mara')).toMatchObject({ status: 200, hashes: 1, statements: 4 })
    expect(await storedHash()).toMatch(/^scrypt\$1024\$8\$1\$/)
    expect(await signIn('mara')).toMatchObject({ status: 200, hashes: 1, statements: 4 })
  })
})

describe('many who sign in at once', () => {
  it('are hashed two at a time, and reads do not wait for them', async () => {
    const reader = await openSignedInBrowser(world, mara)
    const guests: Browser[] = []
    for (let at = 0; at < 8; at += 1) guests.push(await openBrowser(world, { ip: `198.51.100.${at + 1}` }))
    const statuses: number[] = []
    const { waitingCount, release } = delayHashes()
    const work = await measureHashes(async () => {
      const logins = guests.map(async (guest) => {
        statuses.push((await guest.request('POST', '/auth/login', { user: 'mara', password })).status)
      })
      try {
        await until(() => expect(waitingCount()).toBe(2))
        for (let at = 0; at < 10; at += 1) {
          expect((await reader.request('GET', '/api/client/account')).status).toBe(200)
        }
        expect([statuses, waitingCount()]).toEqual([[], 2])
      } finally {
        release()
      }
      await Promise.all(logins)
    })
    expect(statuses).toEqual(Array(8).fill(200))
    expect(work).toEqual({ hashes: 8, maxConcurrent: 2 })
  })
})
