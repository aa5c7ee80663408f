import { beforeEach, describe, expect, it } from 'vitest'
import { throttles } from '../../src/db/schema.ts'
import { hashPassword } from '../../src/domain/auth/password-hash.ts'
import { openBrowser } from '../support/browser.ts'
import { makeUser } from '../support/factories.ts'
import { measureHashes } from '../support/measure-hashes.ts'
import { giveSecondFactor } from '../support/second-factor.ts'
import { cheapPasswords, useWorld } from '../support/world.ts'

const world = useWorld()
const password = 'correct horse battery'

beforeEach(async () => {
  const passwordHash = await hashPassword(password, cheapPasswords)
  await makeUser(world, { username: 'plain', email: 'plain@example.test', passwordHash })
  await giveSecondFactor(world, await makeUser(world, { username: 'guarded', passwordHash }))
  await makeUser(world, { username: 'invited', passwordHash: null })
})

const login = async (user: string, ip: string, proof = 'wrong') =>
  (await openBrowser(world, { ip })).request('POST', '/auth/login', { user, password: proof })

/** Collects everything by which a caller could tell two refusals apart, and the work they could measure. */
async function refusalOf(user: string, ip: string) {
  const browser = await openBrowser(world, { ip })
  world.database.statements.length = 0
  let answer = { status: 0, body: {}, headers: new Headers() }
  const { hashes } = await measureHashes(async () => {
    answer = await browser.request('POST', '/auth/login', { user, password: 'wrong' })
  })
  const headers = [...answer.headers].filter(([name]) => name !== 'x-request-id')
  const { status, body } = answer
  return { status, body, headers, statements: [...world.database.statements], hashes }
}

describe('AU-1: a refused sign-in', () => {
  it('is the same for an unknown name, a wrong password, a second factor and an invitation', async () => {
    const [first, ...others] = [
      await refusalOf('plain', '192.0.2.10'),
      await refusalOf('PLAIN', '192.0.2.11'),
      await refusalOf('unknown', '192.0.2.12'),
      await refusalOf('guarded', '192.0.2.13'),
      await refusalOf('invited', '192.0.2.14'),
    ]
    expect(first).toMatchObject({ status: 400, body: { errors: [{ code: 'DisplayException' }] }, hashes: 1 })
    for (const other of others) expect(other).toEqual(first)
    const byAddress = await refusalOf('plain@example.test', '192.0.2.15')
    expect(await refusalOf('unknown@example.test', '192.0.2.16')).toEqual(byAddress)
    expect(byAddress).toMatchObject({ status: 400, body: first?.body, hashes: 1 })
  })
})

describe('AU-8: guesses', () => {
  it('are limited by the database: without the cache no caller gets more of them, or is locked out', async () => {
    const { cache } = world.services
    const hit = () => Promise.reject(new Error('The cache is away.'))
    Object.assign(world.services, { cache: { ...cache, hit } })
    expect((await login('plain', '192.0.2.20')).status).toBe(400)
    await world.database.db.update(throttles).set({ hits: 4 })
    expect((await login('plain', '192.0.2.20')).status).toBe(400)
    expect((await login('plain', '192.0.2.20', password)).status).toBe(429)
    expect((await login('plain', '192.0.2.21', password)).status).toBe(200)
  })

  it('of neighbours in one /64 are those of one network, for one name and for any', async () => {
    await login('plain', '2001:db8:0:1::1')
    await world.database.db.update(throttles).set({ hits: 5 })
    expect((await login('plain', '2001:db8:0:1:ffff::', password)).status).toBe(429)
    expect((await login('plain', '2001:db8:0:2::1', password)).status).toBe(200)
  })

  it('of one network for different names end at sixty in a quarter of an hour', async () => {
    await login('another-name', '2001:db8:0:3::1')
    await world.database.db.update(throttles).set({ hits: 59 })
    expect((await login('plain', '2001:db8:0:3::2', password)).status).toBe(200)
    expect((await login('guarded', '2001:db8:0:3::3', password)).status).toBe(429)
    expect((await login('guarded', '2001:db8:0:4::1', password)).status).toBe(200)
    world.clock.advance(901)
    expect((await login('guarded', '2001:db8:0:3::3', password)).status).toBe(200)
  })
})
