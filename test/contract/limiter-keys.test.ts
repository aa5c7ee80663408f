import { describe, expect, it } from 'vitest'
import { listMountedRoutes } from '../../src/cli/api-info.ts'
import { throttles, users } from '../../src/db/schema.ts'
import { changeSettings } from '../../src/domain/settings/settings.ts'
import { networkOf, siteOf } from '../../src/ip-addresses.ts'
import type { RouteRow } from '../../src/http/metadata.ts'
import { openBrowser } from '../support/browser.ts'
import { known, makeClientToken, makeNode, makeServer, makeUser } from '../support/factories.ts'
import { giveSecondFactor } from '../support/second-factor.ts'
import { useWorld } from '../support/world.ts'
import { entitledOptions, createFixtures, pathOf } from './fixtures.ts'

const world = useWorld()
const namesOf = (row: RouteRow) =>
  row.metadata.flatMap((fact) => (fact.kind === 'throttle' ? [fact.name] : []))

/** One route of each limiter, or of several in a row. */
const throttled = [
  ...new Map(listMountedRoutes().map((row) => [namesOf(row).join(', '), row] as const)),
].filter(([names]) => names !== '')

/** Lists the keys that the cache counted while `work` ran. */
async function keysOf(work: () => Promise<unknown>): Promise<string[]> {
  const { cache } = world.services
  const keys: string[] = []
  const hit: typeof cache.hit = (key, seconds) => {
    keys.push(key)
    return cache.hit(key, seconds)
  }
  Object.assign(world.services, { cache: { ...cache, hit } })
  await work()
  Object.assign(world.services, { cache })
  return keys
}

describe('AU-8: every key of a limiter in the cache', () => {
  it.each(throttled)('names its limiter and who is counted: %s', async (_names, row) => {
    const fixtures = await createFixtures(world)
    const accounts = await world.database.db.select({ uuid: users.uuid }).from(users)
    const people = accounts.map(({ uuid }) => uuid)
    const { uuid: server } = fixtures.server
    const ip = '2001:db8:1:7::1'
    const whom = [...people, server, ...people.map((uuid) => `${uuid}:${server}`), networkOf(ip), siteOf(ip)]
    const path = pathOf(row, fixtures)
    const options = await entitledOptions(world, row, fixtures, path, row.method === 'GET' ? undefined : '{}')
    const keys = await keysOf(() => world.request(row.method, path, { ...options, ip }))
    expect(keys.length).toBeGreaterThanOrEqual(namesOf(row).length)
    for (const key of keys) {
      const [, name, who] = /^throttle:([\w-]+):(.+)$/.exec(key) ?? []
      expect(namesOf(row), key).toContain(name)
      expect(whom, key).toContain(who)
    }
  })
})

describe('AU-8: every key of a limiter in the database', () => {
  /** Lists every key that is counted for one user in one network. */
  async function guessAs(name: string, ip: string): Promise<string[]> {
    const user = await makeUser(world, { username: name, passwordHash: known.passwordHash })
    const password = 'wrong horse'
    const browser = await openBrowser(world, { ip })
    const post = (path: string, body: object) => browser.request('POST', path, body)
    await post('/auth/login', { user: name, password })
    await post('/auth/password', { email: user.email })
    const next = { password, password_confirmation: password }
    await post('/auth/password/reset', { token: 'x', email: user.email, ...next })
    await post('/auth/register', { username: `${name}2`, email: `${name}@register.test`, ...next })
    const token = await makeClientToken(world, user)
    const email = { email: `${name}@new.test`, password: known.password }
    await world.request('PUT', '/api/client/account/email', { token, body: { ...email, password } })
    const guesses = await world.database.db.select().from(throttles)
    await world.request('PUT', '/api/client/account/email', { token, body: email })
    await giveSecondFactor(world, user)
    const guest = await openBrowser(world, { ip })
    const { body } = await guest.request('POST', '/auth/login', { user: name, password: known.password })
    const proof = { confirmation_token: body.data.confirmation_token, recovery_token: 'wrong' }
    await guest.request('POST', '/auth/login/checkpoint', proof)
    const node = await makeNode(world)
    const server = await makeServer(world, { node, owner: user })
    const attempt = { type: 'password', username: `${name}.${server.uuidShort}`, password, ip: `${ip}:1` }
    await world.request('POST', '/api/remote/sftp/auth', { token: node.token, body: attempt })
    const rows = [...guesses, ...(await world.database.db.select().from(throttles))]
    await world.database.db.delete(throttles)
    return [...new Set(rows.map(({ key }) => key))]
  }

  it('names its limiter and who is counted: two people in two networks share none', async () => {
    await changeSettings(world.panel, { sign_in: { registration: true } })
    const [ones, others] = [await guessAs('mara', '198.51.100.1'), await guessAs('nils', '203.0.113.1')]
    const limiters = (keys: string[]) => new Set(keys.map((key) => key.split(':')[0]))
    expect(limiters(ones)).toEqual(limiters(others))
    expect(limiters(ones)).toEqual(
      new Set([
        'checkpoint',
        'email-change',
        'forgotten-password',
        'login',
        'login-account',
        'login-network',
        'password',
        'password-mail',
        'password-reset',
        'password-reset-network',
        'register',
        'sftp',
        'sftp-node',
        'sftp-site',
      ]),
    )
    expect(ones.filter((key) => others.includes(key))).toEqual([])
    for (const key of [...ones, ...others]) expect(key).toMatch(/^[a-z-]+:[^:].*$/)
  })
})
