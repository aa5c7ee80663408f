import { beforeEach, describe, expect, it } from 'vitest'
import type { User } from '../../src/db/tables/users.ts'
import { changeSettings } from '../../src/domain/settings/settings.ts'
import { type Browser, openSignedInBrowser } from '../support/browser.ts'
import { fullAcl, known, makeClientToken, makeKey, makeServer, makeUser } from '../support/factories.ts'
import { giveSecondFactor } from '../support/second-factor.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
let player: User
let administrator: User

beforeEach(async () => {
  player = await makeUser(world, { passwordHash: known.passwordHash })
  administrator = await makeUser(world, { rootAdmin: true, passwordHash: known.passwordHash })
})

const demand = (required: 'nobody' | 'administrators' | 'everybody') =>
  changeSettings(world.panel, { two_factor: { required } })

/** Requests this path with a key and in a browser; returns both outcomes. */
async function answersTo(user: User, path: string, method = 'GET'): Promise<string[]> {
  const token = await makeClientToken(world, user)
  const browser = await openSignedInBrowser(world, user)
  const answers = [await world.request(method, path, { token }), await browser.request(method, path)]
  return answers.map(({ status, body }) => body?.errors?.[0].code ?? String(status))
}

const demanded = 'TwoFactorAuthRequiredException'

describe('a second factor that is demanded', () => {
  it.each([
    ['nobody', ['200', '200'], ['200', '200']],
    ['administrators', ['200', '200'], [demanded, demanded]],
    ['everybody', [demanded, demanded], [demanded, demanded]],
  ] as const)('AU-15: of %s', async (required, ofPlayer, ofAdministrator) => {
    await demand(required)
    expect(await answersTo(player, '/api/client')).toEqual(ofPlayer)
    expect(await answersTo(administrator, '/api/client')).toEqual(ofAdministrator)
    for (const user of [player, administrator]) await giveSecondFactor(world, user)
    expect(await answersTo(player, '/api/client')).toEqual(['200', '200'])
    expect(await answersTo(administrator, '/api/client')).toEqual(['200', '200'])
  })

  it('AU-15: answers 400, before a server is looked for', async () => {
    await demand('everybody')
    const { uuid } = await makeServer(world, { owner: player })
    const token = await makeClientToken(world, player)
    for (const path of [
      `/api/client/servers/${uuid}`,
      '/api/client/servers/00000000',
      '/api/client/account/api-keys',
    ]) {
      const { status, body } = await world.request('GET', path, { token })
      expect([status, body.errors[0].code], path).toEqual([400, demanded])
    }
  })

  it('leaves open what it takes to get one', async () => {
    await demand('everybody')
    expect(await answersTo(player, '/api/client/account')).toEqual(['200', '200'])
    expect(await answersTo(player, '/api/client/account/two-factor')).toEqual(['200', '200'])
    const token = await makeClientToken(world, player)
    const disable = await world.request('POST', '/api/client/account/two-factor/disable', {
      token,
      body: { password: known.password },
    })
    expect(disable.status).toBe(204)
    const email = await world.request('PUT', '/api/client/account/email', {
      token,
      body: { email: 'other@example.test', password: known.password },
    })
    expect(email.body.errors[0].code).toBe(demanded)
  })

  it('AU-15: is asked on the Application API too', async () => {
    const { token } = await makeKey(world, administrator, { type: 'application', acl: fullAcl })
    const ask = async () => {
      const { status, body } = await world.request('GET', '/api/application/locations', { token })
      return body?.errors?.[0].code ?? status
    }
    await demand('nobody')
    expect(await ask()).toBe(200)
    for (const required of ['administrators', 'everybody'] as const) {
      await demand(required)
      expect(await ask()).toBe(demanded)
    }
    await giveSecondFactor(world, administrator)
    expect(await ask()).toBe(200)
  })

  it('lets a user without one see their sign-in methods and sign out, but change nothing', async () => {
    await demand('everybody')
    const browser: Browser = await openSignedInBrowser(world, player)
    expect((await browser.request('GET', '/account/security')).status).toBe(200)
    for (const [method, path] of [
      ['POST', '/account/security/passkeys/options'],
      ['DELETE', '/account/security/passkeys/1'],
      ['DELETE', '/account/security/sessions'],
    ] as const) {
      const { status, body } = await browser.request(method, path, { current_password: known.password })
      expect([status, body.errors[0].code], path).toEqual([400, demanded])
    }
    expect((await browser.request('POST', '/auth/logout')).status).toBe(204)
  })

  it('does not prevent signing in', async () => {
    await demand('everybody')
    const browser = await openSignedInBrowser(world, administrator)
    await browser.request('POST', '/auth/logout')
    const { status } = await browser.request('POST', '/auth/login', {
      user: administrator.username,
      password: known.password,
    })
    expect(status).toBe(200)
  })
})
