import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { passwordResets, users } from '../../src/db/schema.ts'
import type { User } from '../../src/db/tables/users.ts'
import { changeSettings } from '../../src/domain/settings/settings.ts'
import { openBrowser } from '../support/browser.ts'
import { changeOf, known, makeApplicationToken, makeClientToken, makeUser } from '../support/factories.ts'
import { emailTokens } from '../support/mailed-links.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
const { password, passwordHash } = known
const next = 'new@example.test'
let user: User
let token: string

beforeEach(async () => {
  await changeSettings(world.panel, { sign_in: { verify_email: 'on' } })
  user = await makeUser(world, { email: 'Mara@example.test', username: 'mara.k', passwordHash })
  token = await makeClientToken(world, user)
})

const ask = (method: string, path = '', body?: unknown, as = token) =>
  world.request(method, `/api/client/account${path}`, { token: as, ...(body === undefined ? {} : { body }) })
const changeEmail = (email: unknown, as = token) => ask('PUT', '/email', { email, password }, as)
const verify = (link: unknown, as = token) => ask('POST', '/email/verify', { token: link }, as)
const stateOf = async (as = token) => (await ask('GET', '/email', undefined, as)).body.attributes
const row = async ({ id }: { id: number } = user) =>
  (await world.database.db.select().from(users).where(eq(users.id, id)))[0]
const signIn = async (name: string) =>
  (await (await openBrowser(world)).request('POST', '/auth/login', { user: name, password })).status
const eventsOfEmail = async () => (await world.events()).filter((event) => event.includes('.email-'))
const findByEmail = async (address: string) => {
  const as = await makeApplicationToken(world)
  const path = `/api/application/users?filter[email]=${address}`
  const { body } = await world.request('GET', path, { token: as })
  return body.data.map(({ attributes }: any) => attributes.id)
}
const unchanged = { email: 'Mara@example.test', status: 'verified', pending_email: null }

describe('a new address while addresses are verified', () => {
  it('AU-16: is pending, and the old one stays in answers, sign-in and look-up until the link is followed', async () => {
    expect((await changeEmail('New@example.test')).status).toBe(204)
    expect(await stateOf()).toEqual({ ...unchanged, pending_email: 'New@example.test' })
    expect((await ask('GET')).body.attributes.email).toBe('Mara@example.test')
    expect([await signIn('mara@example.test'), await signIn(next)]).toEqual([200, 400])
    expect([await findByEmail('mara@example.test'), await findByEmail(next)]).toEqual([[user.id], []])
    const [link, ...more] = await emailTokens(world, 'New@example.test')
    expect(more).toEqual([])
    expect((await world.mails()).map(({ to }) => to)).toEqual(['New@example.test'])
    const answer = await verify(link)
    expect([answer.status, answer.text]).toEqual([204, ''])
    expect(await stateOf()).toEqual({ email: 'New@example.test', status: 'verified', pending_email: null })
    expect([await signIn('mara@example.test'), await signIn(next)]).toEqual([400, 200])
    expect([await findByEmail('mara@example.test'), await findByEmail(next)]).toEqual([[], [user.id]])
    expect(await eventsOfEmail()).toEqual([
      'user:account.email-change-requested',
      'user:account.email-verified',
      'user:account.email-changed',
    ])
    await world.runJobs()
    const told = (await world.mails()).slice(1)
    expect(told.map(({ to }) => to).toSorted()).toEqual(['Mara@example.test', 'New@example.test'])
    expect(told.every(({ subject }) => subject.endsWith('was changed'))).toBe(true)
  })

  it('cancels a mailed reset when it takes effect, not before', async () => {
    const expiresAt = new Date(world.clock.now.getTime() + 3.6e6)
    await world.database.db.insert(passwordResets).values({ userId: user.id, tokenHash: 'a', expiresAt })
    const resets = async () => (await world.database.db.select().from(passwordResets)).length
    await changeEmail(next)
    const [link] = await emailTokens(world, next)
    expect(await resets()).toBe(1)
    await verify(link)
    expect(await resets()).toBe(0)
  })

  it('is cancelled by its owner, and the link does nothing then', async () => {
    await changeEmail(next)
    const [link] = await emailTokens(world, next)
    for (let times = 0; times < 2; times += 1)
      expect((await ask('DELETE', '/email/pending')).status).toBe(204)
    expect((await verify(link)).status).toBe(400)
    expect(await stateOf()).toEqual(unchanged)
    expect(await eventsOfEmail()).toEqual([
      'user:account.email-change-requested',
      'user:account.email-change-cancelled',
    ])
  })

  it('is not verified by the link of an address that was wanted before', async () => {
    await changeEmail('first@example.test')
    const [first] = await emailTokens(world, 'first@example.test')
    await changeEmail(next)
    expect((await verify(first)).status).toBe(400)
    expect(await stateOf()).toEqual({ ...unchanged, pending_email: next })
    await verify((await emailTokens(world, next))[0])
    expect((await stateOf()).email).toBe(next)
  })

  it('is verified once, however often the link is followed at once', async () => {
    await changeEmail(next)
    const [link] = await emailTokens(world, next)
    const answers = await Promise.all(Array.from({ length: 8 }, () => verify(link)))
    expect(answers.filter(({ status }) => status === 204)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(7)
    expect((await eventsOfEmail()).filter((event) => event.endsWith('verified'))).toHaveLength(1)
  })

  it('is verified by its own account alone, with a link that is 24 hours old at most', async () => {
    await changeEmail(next)
    const [link = ''] = await emailTokens(world, next)
    const otherUser = await makeClientToken(world, await makeUser(world))
    for (const [wrong, as] of [
      [link, otherUser],
      [`${link.slice(1)}x`, token],
      ['', token],
    ] as const) {
      expect([400, 422]).toContain((await verify(wrong, as)).status)
    }
    world.clock.advance(86_401)
    expect((await verify(link)).status).toBe(400)
    expect(await stateOf()).toEqual({ ...unchanged, pending_email: next })
  })

  it('is not verified by a link after an administrator set another address', async () => {
    await changeEmail(next)
    const [link] = await emailTokens(world, next)
    const admin = await makeApplicationToken(world)
    const path = `/api/application/users/${user.id}`
    await world.request('PATCH', path, { token: admin, body: changeOf(user, { email: 'set@example.test' }) })
    expect(await stateOf()).toEqual({ email: 'set@example.test', status: 'verified', pending_email: null })
    expect((await verify(link)).status).toBe(400)
    expect((await stateOf()).email).toBe('set@example.test')
  })

  it('gets another link on request, five times an hour, and none when nothing waits for it', async () => {
    expect((await ask('POST', '/email/resend')).status).toBe(400)
    await changeEmail(next)
    const links = []
    for (let times = 0; times < 4; times += 1) {
      await emailTokens(world, next)
      expect((await ask('POST', '/email/resend')).status).toBe(204)
    }
    links.push(...(await emailTokens(world, next)))
    expect(new Set(links).size).toBe(5)
    expect((await ask('POST', '/email/resend')).status).toBe(429)
    expect((await verify(links[0])).status).toBe(204)
  })

  it('AU-12: that another account has verified is refused as an invalid one is', async () => {
    await makeUser(world, { email: 'Taken@example.test' })
    const taken = await changeEmail('taken@example.test')
    const invalid = await changeEmail('taken')
    expect([taken.status, taken.text]).toEqual([422, invalid.text])
    expect(await stateOf()).toEqual(unchanged)
  })

  it('that two accounts want goes to the one that follows its link, and the other one is told', async () => {
    const rival = await makeUser(world, { email: 'rival@example.test', passwordHash })
    const asRival = await makeClientToken(world, rival)
    expect((await changeEmail(next)).status).toBe(204)
    const [link] = await emailTokens(world, next)
    expect((await changeEmail(next, asRival)).status).toBe(204)
    const [, rivalsLink] = await emailTokens(world, next)
    expect((await verify(link)).status).toBe(204)
    expect((await verify(rivalsLink, asRival)).status).toBe(400)
    expect(await stateOf(asRival)).toMatchObject({ email: 'rival@example.test', pending_email: null })
    expect((await row())?.email).toBe(next)
    await world.runJobs()
    const told = (await world.mails()).filter(({ to }) => to === 'rival@example.test')
    expect(told.map(({ subject }) => subject)).toEqual([
      'The change of your e-mail address on Roost was cancelled',
    ])
    expect(told[0]?.text).toContain(next)
    const { body } = await ask('GET', '/activity', undefined, asRival)
    expect(body.data[0].attributes).toMatchObject({
      event: 'user:account.email-released',
      properties: { email: next },
    })
  })

  it('that ten accounts verify at once goes to exactly one', async () => {
    const rivals = await Promise.all(
      Array.from({ length: 10 }, async () => {
        const rival = await makeUser(world, { passwordHash })
        return { rival, as: await makeClientToken(world, rival) }
      }),
    )
    const links: string[] = []
    for (const { as } of rivals) {
      await changeEmail(next, as)
      links.push((await emailTokens(world, next)).find((link) => !links.includes(link)) ?? '')
    }
    const answers = await Promise.all(rivals.map(({ as }, index) => verify(links[index], as)))
    expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([
      204,
      ...Array(9).fill(400),
    ])
    const rows = await Promise.all(rivals.map(({ rival }) => row(rival)))
    expect(rows.filter((each) => each?.email === next)).toHaveLength(1)
    expect(rows.filter((each) => each?.pendingEmail !== null)).toEqual([])
  })
})

describe('the setting sign_in.verify_email', () => {
  const choose = (verify_email: string | null) => changeSettings(world.panel, { sign_in: { verify_email } })

  it('is auto by default: on where a mailer is configured, off with the local outbox', async () => {
    await choose(null)
    expect((await changeEmail('a@example.test')).status).toBe(204)
    expect(await stateOf()).toEqual({ email: 'a@example.test', status: 'unverified', pending_email: null })
    Object.assign(world.services, { config: { ...world.services.config, sendsMail: true } })
    expect((await changeEmail('b@example.test')).status).toBe(204)
    expect(await stateOf()).toEqual({
      email: 'a@example.test',
      status: 'unverified',
      pending_email: 'b@example.test',
    })
  })

  it('off: a change applies at once, and the address signs in, is found, and is unverified', async () => {
    await choose('off')
    Object.assign(world.services, { config: { ...world.services.config, sendsMail: true } })
    await changeEmail(next)
    expect(await stateOf()).toEqual({ email: next, status: 'unverified', pending_email: null })
    expect([await signIn(next), await findByEmail(next)]).toEqual([200, [user.id]])
    expect(await eventsOfEmail()).toEqual(['user:account.email-changed'])
    // Switched on later, what was never verified stops standing for the account.
    await choose('on')
    expect([await signIn(next), await signIn('mara.k'), await findByEmail(next)]).toEqual([400, 200, []])
    await ask('POST', '/email/resend')
    const [link] = await emailTokens(world, next)
    expect((await verify(link)).status).toBe(204)
    expect([await signIn(next), await findByEmail(next)]).toEqual([200, [user.id]])
  })

  it('takes three values', async () => {
    const admin = await makeApplicationToken(world)
    const patch = (verify_email: unknown) =>
      world.request('PATCH', '/api/application/settings', {
        token: admin,
        body: { sign_in: { verify_email } },
      })
    for (const value of ['auto', 'on', 'off']) expect((await patch(value)).status).toBe(200)
    for (const value of ['ON', true, 'no']) expect((await patch(value)).status).toBe(422)
  })
})
