import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { activity, identities, passkeys, sessions } from '../../src/db/schema.ts'
import type { User } from '../../src/db/tables/users.ts'
import { mergeSessionData, sessionId } from '../../src/domain/auth/sessions.ts'
import { changeSettings } from '../../src/domain/settings/settings.ts'
import { type Browser, openBrowser, openSignedInBrowser } from '../support/browser.ts'
import { makeUser } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
let user: User
let browser: Browser

beforeEach(async () => {
  user = await makeUser(world)
  browser = await openSignedInBrowser(world, user)
})

const show = (as = browser) => as.request('GET', '/account/security')
const list = async (as = browser) => (await as.request('GET', '/account/security/sessions')).body.sessions
const isSignedIn = async (as: Browser) => (await as.request('GET', '/api/client/account')).status === 200
const idOf = (as: Browser) => sessionId(as.cookies.get('roost_session') ?? '')

describe('the sign-in methods of a user', () => {
  it('are shown only to the user, and not cached', async () => {
    const { db } = world.database
    const other = await makeUser(world)
    const values = { provider: 'github', issuer: 'https://github.com', createdAt: new Date(0) }
    await db.insert(passkeys).values([
      { userId: user.id, name: 'Laptop', credentialId: 'a', publicKey: 'b', createdAt: new Date(0) },
      { userId: other.id, name: 'Theirs', credentialId: 'c', publicKey: 'd' },
    ])
    await db.insert(identities).values([
      { ...values, userId: user.id, subject: '1', displayName: 'mara', lastUsedAt: new Date(60_000) },
      { ...values, userId: other.id, subject: '2', displayName: 'theirs' },
    ])
    await changeSettings(world.panel, {
      sign_in: { github: true, github_client_id: 'x', github_client_secret: 'canary-of-github' },
    })
    const { status, body, headers, text } = await show()
    expect(status).toBe(200)
    expect(headers.get('cache-control')).toBe('no-store, private')
    expect(body).toEqual({
      // The origin of the tests is not secure.
      passkeys_enabled: false,
      providers: [{ id: 'github', name: 'GitHub' }],
      passkeys: [{ id: 1, name: 'Laptop', created_at: '1970-01-01T00:00:00+00:00', last_used_at: null }],
      identities: [
        {
          id: 1,
          provider: 'github',
          display_name: 'mara',
          created_at: '1970-01-01T00:00:00+00:00',
          last_used_at: '1970-01-01T00:01:00+00:00',
        },
      ],
      notice: null,
      error: null,
    })
    expect(text).not.toContain('canary')
  })

  it('show a pending message once, even for ten requests at once', async () => {
    const note = (notes: object) => mergeSessionData(world.panel, { id: idOf(browser) }, notes)
    await note({ notice: 'Linked.' })
    const answers = await Promise.all(Array.from({ length: 10 }, () => show()))
    expect(answers.filter(({ body }) => body.notice === 'Linked.')).toHaveLength(1)
    await note({ notice: 'One', error: 'Two' })
    expect((await show()).body).toMatchObject({ notice: 'One', error: 'Two' })
    expect((await show()).body).toMatchObject({ notice: null, error: null })
    const [row] = await world.database.db.select().from(sessions)
    expect(row?.data).toEqual({})
  })

  it('keep the other data of the session', async () => {
    const passkey = { challenge: 'x', purpose: 'register' as const, expiresAt: '2030-01-01T00:00:00.000Z' }
    await mergeSessionData(world.panel, { id: idOf(browser) }, { passkey, error: 'Two' })
    await show()
    const [row] = await world.database.db.select().from(sessions)
    expect(row?.data).toEqual({ passkey })
  })

  it('are not shown to guests', async () => {
    for (const path of ['/account/security', '/account/security/sessions']) {
      expect((await (await openBrowser(world)).request('GET', path)).status).toBe(401)
      expect((await world.request('GET', path)).status).toBe(401)
    }
  })

  it('cost two statements, as the list of sessions does', async () => {
    for (const path of ['/account/security', '/account/security/sessions', '/api/client/account']) {
      const statements = await world.countStatements(() => browser.request('GET', path))
      expect(statements, path).toBeLessThanOrEqual(2)
    }
  })
})

describe('sessions', () => {
  it('are listed by their last use, without what would open them', async () => {
    world.clock.advance(3600)
    const other = await openSignedInBrowser(world, user, { ip: '198.51.100.9' })
    world.clock.advance(90)
    await openSignedInBrowser(world, await makeUser(world))
    await other.request('GET', '/api/client/account')
    const shown = await list()
    expect(shown).toEqual([
      {
        id: idOf(browser).slice(0, 32),
        ip: '192.0.2.1',
        user_agent: 'Test browser',
        is_current: true,
        created_at: expect.any(String),
        last_used_at: expect.any(String),
      },
      expect.objectContaining({ ip: '198.51.100.9', is_current: false }),
    ])
    const text = JSON.stringify(shown)
    for (const as of [browser, other]) {
      expect(text).not.toContain(idOf(as))
      expect(text).not.toContain(as.cookies.get('roost_session'))
    }
    world.clock.advance(11.5 * 3600)
    await list()
    world.clock.advance(3600)
    expect(await list()).toHaveLength(1)
  })

  it('end one by one, and are recorded', async () => {
    const other = await openSignedInBrowser(world, user)
    const [theirs] = (await list()).filter((each: { is_current: boolean }) => !each.is_current)
    const end = (id: string, as = browser) => as.request('DELETE', `/account/security/sessions/${id}`)
    const otherUser = await openSignedInBrowser(world, await makeUser(world))
    expect((await end(theirs.id, otherUser)).status).toBe(404)
    expect(await isSignedIn(other)).toBe(true)
    expect((await end(theirs.id)).status).toBe(204)
    expect(await isSignedIn(other)).toBe(false)
    expect((await end(theirs.id)).status).toBe(404)
    expect((await end(idOf(browser))).status).toBe(404)
    const entries = await world.database.db.select().from(activity).where(eq(activity.userId, user.id))
    expect(entries.map(({ event, actorId, source }) => [event, actorId, source])).toEqual([
      ['user:session.delete', user.id, 'web'],
    ])
  })

  it('end all but the present one', async () => {
    const others = [await openSignedInBrowser(world, user), await openSignedInBrowser(world, user)]
    const otherUser = await openSignedInBrowser(world, await makeUser(world))
    const endOthers = () => browser.request('DELETE', '/account/security/sessions')
    expect((await endOthers()).status).toBe(204)
    expect(await Promise.all(others.map(isSignedIn))).toEqual([false, false])
    expect(await isSignedIn(browser)).toBe(true)
    expect(await isSignedIn(otherUser)).toBe(true)
    expect((await endOthers()).status).toBe(204)
    expect(await world.events()).toEqual(['user:session.delete'])
  })
})
