import bcrypt from 'bcryptjs'
import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { recoveryTokens, sessions, users } from '../../src/db/schema.ts'
import type { User } from '../../src/db/tables/users.ts'
import { csrfToken, endSessions } from '../../src/domain/auth/sessions.ts'
import { completeFirstFactor } from '../../src/domain/auth/login.ts'
import { maxMovedTokens, replaceRecoveryTokens } from '../../src/domain/auth/recovery-tokens.ts'
import { type Browser, openBrowser, sessionCookieName } from '../support/browser.ts'
import { known, makeUser } from '../support/factories.ts'
import { giveSecondFactor, type SecondFactor } from '../support/second-factor.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
let user: User
let factor: SecondFactor

beforeEach(async () => {
  user = await makeUser(world, { username: 'mara', passwordHash: known.passwordHash })
  factor = await giveSecondFactor(world, user)
})

/** Opens a browser after the right password, with the token of the challenge. */
async function challenged(): Promise<{ browser: Browser; token: string }> {
  const [account] = await world.database.db.select().from(users).where(eq(users.id, user.id))
  if (!account) throw new Error('The account is gone.')
  const browser = await openBrowser(world)
  const name = sessionCookieName(world)
  const client = { userAgent: 'Test browser', token: browser.cookies.get(name) ?? null, knownBrowser: null }
  const panel = { ...world.panel, actor: { kind: 'guest' as const } }
  const outcome = await completeFirstFactor(panel, account, client, { remember: false, method: 'password' })
  if (outcome.complete) throw new Error('No second factor was required.')
  browser.cookies.set(name, outcome.session.token)
  browser.cookies.set('XSRF-TOKEN', csrfToken(outcome.session.token))
  return { browser, token: outcome.confirmationToken }
}

const show = (browser: Browser, token: string, proof: object) =>
  browser.request('POST', '/auth/login/checkpoint', { confirmation_token: token, ...proof })
const isSignedIn = async (browser: Browser) =>
  (await browser.request('GET', '/api/client/account')).status === 200
/** A code that is not valid in the next hour. */
const wrongCode = { authentication_code: '12345678' }
const tokensLeft = async () => (await world.database.db.select().from(recoveryTokens)).length
const signedIn = async () =>
  (await world.database.db.select().from(sessions)).filter(({ userId }) => userId === user.id)

/** Returns what a refusal says about the challenge; undefined while it is open. */
function endOf({ body }: { body: any }) {
  const { source_field, rule } = body.errors[0].meta
  return source_field ? { source_field, rule } : undefined
}

describe('a password of an account with a second factor', () => {
  it('does not sign in, and returns a token for the checkpoint', async () => {
    const browser = await openBrowser(world)
    const before = browser.cookies.get('roost_session')
    const { status, body, text } = await browser.request('POST', '/auth/login', {
      user: 'mara',
      password: known.password,
    })
    expect(status).toBe(200)
    expect(body).toEqual({
      data: { complete: false, confirmation_token: expect.stringMatching(/^\w{64}$/) },
    })
    expect(text).not.toContain(user.uuid)
    expect(browser.cookies.get('roost_session')).not.toBe(before)
    expect(await isSignedIn(browser)).toBe(false)
    expect((await browser.request('POST', '/auth/logout')).status).toBe(401)
    const stored = JSON.stringify(await world.database.db.select().from(sessions))
    expect(stored).not.toContain(body.data.confirmation_token)
    expect(await world.events()).toEqual(['auth:checkpoint'])
  })
})

describe('the checkpoint', () => {
  it('AU-5: signs in to a new session, by a code of the authenticator', async () => {
    const { browser, token } = await challenged()
    const before = browser.cookies.get('roost_session')
    const { status, body } = await show(browser, token, { authentication_code: await factor.code() })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      data: { complete: true, intended: '/', user: { uuid: user.uuid, use_totp: true } },
    })
    expect(browser.cookies.get('roost_session')).not.toBe(before)
    expect(await isSignedIn(browser)).toBe(true)
    expect(await world.events()).toEqual(['auth:checkpoint', 'auth:token', 'auth:success'])
    expect(await world.database.db.select().from(sessions)).toHaveLength(1)
  })

  it('takes a recovery token, once', async () => {
    const [recovery = ''] = factor.tokens
    const first = await challenged()
    expect((await show(first.browser, first.token, { recovery_token: recovery })).status).toBe(200)
    expect(await tokensLeft()).toBe(9)
    const second = await challenged()
    expect((await show(second.browser, second.token, { recovery_token: recovery })).status).toBe(400)
    expect(await world.events()).toContain('auth:recovery-token')
  })

  describe('with recovery tokens of another panel', () => {
    const moved = ['first00000', 'second-token-of-Pelican']
    const use = async ({ browser, token }: { browser: Browser; token: string }, recovery: string) =>
      (await show(browser, token, { recovery_token: recovery })).status

    beforeEach(async () => {
      const hashes = moved.map((token) => bcrypt.hashSync(token, 4).replace('$2b$', '$2y$'))
      await replaceRecoveryTokens(world.panel, user.id, hashes)
    })

    it('takes each once', async () => {
      for (const recovery of moved.toReversed())
        expect([await use(await challenged(), recovery), await use(await challenged(), recovery)]).toEqual([
          200, 400,
        ])
      expect(await tokensLeft()).toBe(0)
      expect(await world.events()).toContain('auth:recovery-token')
    })

    it('AU-3: takes one for one of two sign-ins at once', async () => {
      const both = [await challenged(), await challenged()]
      const statuses = await Promise.all(both.map((one) => use(one, 'first00000')))
      expect(statuses.toSorted((one, other) => one - other)).toEqual([200, 400])
      expect(await tokensLeft()).toBe(1)
    })

    it('takes none of another account, nor a hash', async () => {
      const other = await makeUser(world, { username: 'other', passwordHash: known.passwordHash })
      await world.database.db.update(recoveryTokens).set({ userId: other.id })
      expect(await use(await challenged(), 'first00000')).toBe(400)
      const [row] = await world.database.db.update(recoveryTokens).set({ userId: user.id }).returning()
      expect(await use(await challenged(), row?.tokenHash ?? '')).toBe(400)
    })

    it('compares with twenty of them at most', async () => {
      const hash = (token: string) => bcrypt.hashSync(token, 4)
      const many = Array.from({ length: maxMovedTokens }, (_, at) => hash(`other ${at}`))
      await replaceRecoveryTokens(world.panel, user.id, [...many, hash('beyond')])
      expect(await use(await challenged(), 'beyond')).toBe(400)
      expect(await use(await challenged(), `other ${maxMovedTokens - 1}`)).toBe(200)
    })

    it('has none left when new ones are made, or the second factor is switched off', async () => {
      const { browser, token } = await challenged()
      await show(browser, token, { authentication_code: await factor.code() })
      await browser.request('POST', '/api/client/account/two-factor/regenerate-tokens', {
        password: known.password,
      })
      expect(await use(await challenged(), 'first00000')).toBe(400)
      await replaceRecoveryTokens(world.panel, user.id, [bcrypt.hashSync('again', 4)])
      await browser.request('POST', '/api/client/account/two-factor/disable', { password: known.password })
      expect(await tokensLeft()).toBe(0)
    })
  })

  it('AU-2: belongs to its session', async () => {
    const mine = await challenged()
    const other = await challenged()
    const guest = await openBrowser(world)
    for (const browser of [other.browser, guest]) {
      const answer = await show(browser, mine.token, { authentication_code: await factor.code() })
      expect([answer.status, answer.body.errors[0].code]).toEqual([400, 'DisplayException'])
      expect(endOf(answer)).toEqual({ source_field: 'confirmation_token', rule: 'expired' })
    }
    expect((await show(mine.browser, mine.token, { authentication_code: await factor.code() })).status).toBe(
      200,
    )
  })

  it('AU-2: is over after five minutes', async () => {
    const { browser, token } = await challenged()
    world.clock.advance(299)
    const wrong = await show(browser, token, wrongCode)
    expect([wrong.status, endOf(wrong)]).toEqual([400, undefined])
    world.clock.advance(2)
    const late = await show(browser, token, { authentication_code: await factor.code() })
    expect([late.status, endOf(late)?.rule]).toEqual([400, 'expired'])
    expect(await isSignedIn(browser)).toBe(false)
  })

  it('AU-2: takes five tries, of many at once too', async () => {
    const { browser, token } = await challenged()
    await Promise.all(Array.from({ length: 12 }, () => show(browser, token, wrongCode)))
    const fails = (await world.events()).filter((event) => event === 'auth:fail')
    expect(fails).toHaveLength(5)
    expect((await show(browser, token, { authentication_code: await factor.code() })).status).toBe(400)
  })

  it('says with the last try that it is over, and with all that come after', async () => {
    const { browser, token } = await challenged()
    const ends: unknown[] = []
    for (let at = 0; at < 6; at += 1) ends.push(endOf(await show(browser, token, wrongCode)))
    const over = { source_field: 'confirmation_token', rule: 'too_many_tries' }
    expect(ends).toEqual([undefined, undefined, undefined, undefined, over, over])
  })

  it('lets four wrong codes pass before a right one', async () => {
    const { browser, token } = await challenged()
    for (let at = 0; at < 4; at += 1) expect((await show(browser, token, wrongCode)).status).toBe(400)
    expect((await show(browser, token, { authentication_code: await factor.code() })).status).toBe(200)
  })

  it('bounds wrong codes over all challenges of an account', async () => {
    const statuses: number[] = []
    for (let round = 0; round < 4; round += 1) {
      const { browser, token } = await challenged()
      for (let at = 0; at < 5; at += 1) statuses.push((await show(browser, token, wrongCode)).status)
    }
    expect(statuses).toEqual([...Array(15).fill(400), ...Array(5).fill(429)])
  })

  it('AU-2, AU-3: signs in once when ten show the same code at once', async () => {
    const { browser, token } = await challenged()
    const proof = { authentication_code: await factor.code() }
    const answers = await Promise.all(Array.from({ length: 10 }, () => show(browser, token, proof)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(await signedIn()).toHaveLength(1)
  })

  it('AU-2: signs in once when different proofs are shown at once, and spends one of them', async () => {
    const { browser, token } = await challenged()
    const proofs = [
      { authentication_code: await factor.code() },
      ...factor.tokens.slice(0, 4).map((each) => ({ recovery_token: each })),
    ]
    const answers = await Promise.all(proofs.map((proof) => show(browser, token, proof)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(await signedIn()).toHaveLength(1)
    const isCodeSpent = answers[0]?.status === 200
    expect(await tokensLeft()).toBe(isCodeSpent ? 10 : 9)
  })

  it('AU-3: spends a code and a recovery token once for ten challenges at once', async () => {
    for (const proof of [
      { authentication_code: await factor.code() },
      { recovery_token: factor.tokens[0] ?? '' },
    ]) {
      const open = []
      for (let at = 0; at < 10; at += 1) open.push(await challenged())
      const answers = await Promise.all(open.map(({ browser, token }) => show(browser, token, proof)))
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
      await world.database.db.delete(sessions)
    }
    expect(await tokensLeft()).toBe(9)
  })

  it('AU-3: takes no code that was used, nor an earlier one', async () => {
    const first = await challenged()
    await show(first.browser, first.token, { authentication_code: await factor.code() })
    for (const steps of [0, -1]) {
      const { browser, token } = await challenged()
      const answer = await show(browser, token, { authentication_code: await factor.code(steps) })
      expect(answer.status).toBe(400)
    }
    const { browser, token } = await challenged()
    expect((await show(browser, token, { authentication_code: await factor.code(1) })).status).toBe(200)
  })

  it('takes no proof of another account', async () => {
    const other = await makeUser(world)
    const theirs = await giveSecondFactor(world, other)
    const { browser, token } = await challenged()
    expect((await show(browser, token, { authentication_code: await theirs.code() })).status).toBe(400)
    expect((await show(browser, token, { recovery_token: theirs.tokens[0] })).status).toBe(400)
    expect(await tokensLeft()).toBe(20)
  })

  it('ends with a new password, and with the second factor itself', async () => {
    const first = await challenged()
    await endSessions(world.panel, user.id)
    expect(
      (await show(first.browser, first.token, { authentication_code: await factor.code() })).status,
    ).toBe(400)
    const second = await challenged()
    await world.database.db.update(users).set({ totpEnabledAt: null }).where(eq(users.id, user.id))
    expect(
      (await show(second.browser, second.token, { authentication_code: await factor.code() })).status,
    ).toBe(400)
    expect(await signedIn()).toEqual([])
  })

  it('needs one of the two proofs in its form', async () => {
    const { browser, token } = await challenged()
    const metaOf = async (proof: object, confirmation = token) => {
      const { status, body } = await show(browser, confirmation, proof)
      return [status, body.errors[0].meta]
    }
    expect(await metaOf({})).toEqual([422, { source_field: 'authentication_code', rule: 'required_without' }])
    expect(await metaOf({ authentication_code: 'abcdef' })).toEqual([
      422,
      { source_field: 'authentication_code', rule: 'numeric' },
    ])
    expect(await metaOf({ recovery_token: ['x'] })).toEqual([
      422,
      { source_field: 'recovery_token', rule: 'string' },
    ])
    // None of them was a try.
    const numeric = { authentication_code: Number(await factor.code()) }
    expect((await show(browser, token, numeric)).status).toBe(200)
  })

  it('redirects a signed-in user to the panel', async () => {
    const { browser, token } = await challenged()
    await show(browser, token, { authentication_code: await factor.code() })
    const again = await show(browser, token, { authentication_code: await factor.code(1) })
    expect([again.status, again.headers.get('location')]).toEqual([302, '/'])
  })
})
