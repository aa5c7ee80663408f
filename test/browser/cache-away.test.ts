import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Cache } from '../../src/adapters/cache.ts'
import { upstashCache } from '../../src/adapters/upstash-cache.ts'
import { openBrowser } from '../support/browser.ts'
import { known, makeUser } from '../support/factories.ts'
import { giveSecondFactor } from '../support/second-factor.ts'
import { startStubDaemon, type StubDaemon } from '../support/stub-daemon.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
let silent: StubDaemon
let calls: () => number

beforeAll(async () => {
  silent = await startStubDaemon()
  silent.respond({ hang: true })
})
afterAll(async () => silent.close())
beforeEach(() => makeUser(world, { username: 'mara', passwordHash: known.passwordHash }))

/** A cache whose every call fails at once. */
function refusingCache(): Cache {
  let requests = 0
  calls = () => requests
  const refuse = async (): Promise<never> => {
    requests += 1
    throw new Error('The cache is away.')
  }
  return { get: refuse, set: refuse, add: refuse, remove: refuse, hit: refuse, ping: refuse }
}

/** The deployed cache, in front of a Redis that accepts every call and never responds. */
function silentCache(): Cache {
  silent.calls.length = 0
  calls = () => silent.calls.length
  return upstashCache(`http://127.0.0.1:${silent.port}`, 'token', 100)
}

describe.each([
  ['refuses', refusingCache],
  ['never answers', silentCache],
])('with a cache that %s', (_how, openCache) => {
  beforeEach(() => void Object.assign(world.services, { cache: openCache() }))

  it('a user signs in, stays signed in, and signs out', async () => {
    const browser = await openBrowser(world)
    const login = { user: 'mara', password: known.password }
    expect((await browser.request('POST', '/auth/login', login)).status).toBe(200)
    expect((await browser.request('GET', '/api/client/account')).status).toBe(200)
    expect((await browser.request('POST', '/auth/logout')).status).toBe(204)
    expect((await browser.request('GET', '/api/client/account')).status).toBe(401)
    expect(calls()).toBeGreaterThan(0)
  })

  it('the checkpoint asks for its code, and takes it', async () => {
    const user = await makeUser(world, { username: 'twofold', passwordHash: known.passwordHash })
    const factor = await giveSecondFactor(world, user)
    const browser = await openBrowser(world)
    const login = { user: 'twofold', password: known.password }
    const { body } = await browser.request('POST', '/auth/login', login)
    expect(body.data.complete).toBe(false)
    const proof = {
      confirmation_token: body.data.confirmation_token,
      authentication_code: await factor.code(),
    }
    expect((await browser.request('POST', '/auth/login/checkpoint', proof)).status).toBe(200)
    expect((await browser.request('GET', '/api/client/account')).status).toBe(200)
  })

  it('guesses are bounded as ever', async () => {
    const browser = await openBrowser(world)
    const guess = { user: 'mara', password: 'x' }
    const statuses = []
    for (let at = 0; at < 6; at += 1) {
      statuses.push((await browser.request('POST', '/auth/login', guess)).status)
    }
    expect(statuses).toEqual([400, 400, 400, 400, 400, 429])
  })
})
