import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { passwordResets, sessions, subusers, users } from '../../src/db/schema.ts'
import type { User } from '../../src/db/tables/users.ts'
import { createPasswordReset } from '../../src/domain/auth/password-reset-tokens.ts'
import { changeSettings } from '../../src/domain/settings/settings.ts'
import { openBrowser, openSignedInBrowser } from '../support/browser.ts'
import {
  changeOf,
  known,
  makeApplicationToken,
  makeClientToken,
  makeKey,
  makeNode,
  makeServer,
  makeSubuser,
  makeUser,
} from '../support/factories.ts'
import { emailTokens } from '../support/mailed-links.ts'
import { useStubDaemon } from '../support/stub-daemon.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
const daemon = useStubDaemon()
const { password, passwordHash } = known
const address = 'Wanted@example.test'
let token: string

beforeEach(async () => {
  await changeSettings(world.panel, { sign_in: { verify_email: 'on' } })
  token = await makeApplicationToken(world)
})

const send = (method: string, at: string, body?: unknown, as = token) =>
  world.request(method, `/api/application/users${at}`, {
    token: as,
    ...(body === undefined ? {} : { body }),
  })
const row = async ({ id }: { id: number }) => {
  const [found] = await world.database.db.select().from(users).where(eq(users.id, id))
  return found as User
}
const profile = { username: 'holder', email: address, first_name: 'H', last_name: 'K' }
const claimer = (values = {}) =>
  makeUser(world, { email: address, emailVerifiedAt: null, passwordHash, ...values })
const ask = async (user: User, method: string, path: string, body?: unknown) =>
  world.request(method, `/api/client/account${path}`, {
    token: await makeClientToken(world, user),
    ...(body === undefined ? {} : { body }),
  })
const stateOf = async (user: User) => (await ask(user, 'GET', '/email')).body.attributes

describe('an address that an account claims without having verified it', () => {
  it('AU-16: does not stop an administrator from creating a user with it, and the claimer is told', async () => {
    const user = await claimer()
    const { status, body } = await send('POST', '', { ...profile, email: address.toUpperCase() })
    expect(status).toBe(201)
    expect((await send('GET', `/${body.attributes.id}/email`)).body).toEqual({
      object: 'email_address',
      attributes: { email: address.toUpperCase(), status: 'verified', pending_email: null },
    })
    expect(await stateOf(user)).toMatchObject({
      status: 'released',
      email: expect.stringMatching(/\.invalid$/),
    })
    const feed = await ask(user, 'GET', '/activity')
    expect(feed.body.data[0].attributes).toMatchObject({
      event: 'user:account.email-released',
      properties: { email: address.toUpperCase() },
    })
    // The account keeps everything else, and nothing is mailed to an address that does not exist.
    const browser = await openBrowser(world)
    expect((await browser.request('POST', '/auth/login', { user: user.username, password })).status).toBe(200)
    const next = { current_password: password, password: 'a new one', password_confirmation: 'a new one' }
    expect((await ask(user, 'PUT', '/password', next)).status).toBe(204)
    await world.runJobs()
    expect((await world.mails()).map(({ to }) => to)).toEqual([address.toUpperCase()])
  })

  it('does not stop one from giving it to a user, nor a pending change to it', async () => {
    const user = await claimer()
    const waiting = await makeUser(world, { email: 'own@example.test', pendingEmail: address })
    const holder = await makeUser(world)
    const { status, body } = await send('PATCH', `/${holder.id}`, changeOf(holder, { email: address }))
    expect([status, body.attributes.email]).toEqual([200, address])
    expect(await stateOf(user)).toMatchObject({ status: 'released' })
    expect(await stateOf(waiting)).toEqual({
      email: 'own@example.test',
      status: 'verified',
      pending_email: null,
    })
    await world.runJobs()
    expect((await world.mails()).map(({ to }) => to)).toEqual(['own@example.test'])
  })

  it('does not stop an account that follows its link', async () => {
    const user = await claimer()
    const holder = await makeUser(world, { passwordHash })
    expect((await ask(holder, 'PUT', '/email', { email: address, password })).status).toBe(204)
    const [link] = await emailTokens(world, address)
    expect((await ask(holder, 'POST', '/email/verify', { token: link })).status).toBe(204)
    expect(await stateOf(holder)).toMatchObject({ email: address, status: 'verified' })
    expect(await stateOf(user)).toMatchObject({ status: 'released' })
  })

  it('is refused with 422 when it is verified, and the refusal changes nothing', async () => {
    const holder = await makeUser(world, { email: address })
    const other = await makeUser(world, { pendingEmail: address })
    for (const answer of [
      await send('POST', '', profile),
      await send('PATCH', `/${other.id}`, changeOf(other, { email: address })),
    ]) {
      expect([answer.status, answer.body.errors[0].meta]).toMatchObject([
        422,
        { source_field: 'email', rule: 'unique' },
      ])
    }
    expect(await stateOf(holder)).toMatchObject({ email: address, status: 'verified' })
    expect((await row(other)).pendingEmail).toBe(address)
    expect(await world.events()).toEqual(['admin:settings.update'])
  })

  it('is not verified by a change that repeats it', async () => {
    const user = await claimer()
    await send('PATCH', `/${user.id}`, changeOf(user, { email: address.toLowerCase() }))
    expect(await stateOf(user)).toEqual({
      email: address.toLowerCase(),
      status: 'unverified',
      pending_email: null,
    })
  })

  it('goes to exactly one of the users that are created with it at once', async () => {
    const user = await claimer()
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, index) => send('POST', '', { ...profile, username: `holder${index}` })),
    )
    expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([
      201,
      ...Array(5).fill(422),
    ])
    expect(await stateOf(user)).toMatchObject({ status: 'released' })
  })
})

describe('one address, wanted by all at once', () => {
  it('belongs to one account in the end, and no request fails', async () => {
    const holder = await claimer()
    const wanting = await Promise.all(Array.from({ length: 3 }, () => makeUser(world, { passwordHash })))
    const other = await makeUser(world)
    const links: string[] = []
    for (const user of wanting) {
      await ask(user, 'PUT', '/email', { email: address, password })
      links.push((await emailTokens(world, address)).find((link) => !links.includes(link)) ?? '')
    }
    const { url } = await createPasswordReset(world.panel, holder, 3600)
    const reset = new URL(url).pathname.split('/').at(-1)
    const browser = await openBrowser(world)
    const next = { password: 'my own one', password_confirmation: 'my own one' }
    const server = await makeServer(world)
    const asOwner = await makeClientToken(world, { id: server.ownerId })
    const answers = await Promise.all([
      ...wanting.map((user, index) => ask(user, 'POST', '/email/verify', { token: links[index] })),
      ...wanting.map((user) => ask(user, 'DELETE', '/email/pending')),
      send('POST', '', { ...profile, password }),
      send('PATCH', `/${other.id}`, changeOf(other, { email: address })),
      send('POST', `/${holder.id}/email/verify`),
      browser.request('POST', '/auth/password/reset', { token: reset, email: address, ...next }),
      world.request('POST', `/api/client/servers/${server.uuid}/users`, {
        token: asOwner,
        body: { email: address, permissions: [] },
      }),
    ])
    expect(answers.filter(({ status }) => status >= 500)).toEqual([])
    const rows = await world.database.db.select().from(users)
    const having = rows.filter(({ email }) => email.toLowerCase() === address.toLowerCase())
    expect(having).toMatchObject([{ emailVerifiedAt: world.clock.now }])
    const [invited, ...more] = await world.database.db.select().from(subusers)
    expect([more, invited?.userId, invited?.pending]).toEqual([[], having[0]?.id, false])
  })
})

describe('an administrator verifies an address', () => {
  it('by a route that records it, whereupon it signs in and is found', async () => {
    const user = await claimer()
    const found = async () => (await send('GET', `?filter[email]=${address}`)).body.data.length
    const signIn = async () => {
      const browser = await openBrowser(world)
      return (await browser.request('POST', '/auth/login', { user: address, password })).status
    }
    expect([await found(), await signIn()]).toEqual([0, 400])
    for (let times = 0; times < 2; times += 1) {
      const { status, body } = await send('POST', `/${user.id}/email/verify`)
      expect([status, body.attributes]).toEqual([
        200,
        { email: address, status: 'verified', pending_email: null },
      ])
    }
    expect([await found(), await signIn()]).toEqual([1, 200])
    expect((await world.events()).filter((event) => event === 'user:account.email-verified')).toHaveLength(1)
  })

  it('only with a key that may write users, of a user who exists and has an address', async () => {
    const user = await claimer()
    const reader = await makeKey(world, await makeUser(world, { rootAdmin: true }), {
      type: 'application',
      acl: { users: 1 },
    })
    expect((await send('POST', `/${user.id}/email/verify`, undefined, reader.token)).status).toBe(403)
    expect((await send('GET', `/${user.id}/email`, undefined, reader.token)).status).toBe(200)
    expect((await send('POST', '/9999/email/verify')).status).toBe(404)
    await send('POST', '', profile)
    expect((await send('POST', `/${user.id}/email/verify`)).status).toBe(400)
    expect(await stateOf(user)).toMatchObject({ status: 'released' })
  })
})

describe('PATCH users by an administrator', () => {
  const resetCount = async (user: User) =>
    (await world.database.db.select().from(passwordResets).where(eq(passwordResets.userId, user.id))).length

  it.each([
    ['a new password', { password: 'another password' }],
    ['a new address', { email: 'other@example.test' }],
  ])('with %s cancels outstanding resets and ends sessions', async (_, change) => {
    const user = await makeUser(world, { passwordHash })
    const bystander = await makeUser(world)
    await createPasswordReset(world.panel, user, 3600)
    await createPasswordReset(world.panel, bystander, 3600)
    const browser = await openSignedInBrowser(world, user)
    expect((await browser.request('GET', '/api/client/account')).status).toBe(200)
    expect((await send('PATCH', `/${user.id}`, changeOf(user, change))).status).toBe(200)
    expect([await resetCount(user), await resetCount(bystander)]).toEqual([0, 1])
    expect((await browser.request('GET', '/api/client/account')).status).toBe(401)
    expect(await world.database.db.select().from(sessions).where(eq(sessions.userId, user.id))).toEqual([])
  })

  it('with a new address revokes access on all nodes where the user has some, by jobs', async () => {
    const user = await makeUser(world)
    const node = await makeNode(world, { daemonListen: daemon.port })
    const own = await makeServer(world, { node, owner: user })
    const shared = await makeServer(world, { node })
    await makeServer(world, { node })
    await makeSubuser(world, shared, user, ['websocket.connect'])
    daemon.respond({ status: 500, json: { error: 'away' } })
    expect((await send('PATCH', `/${user.id}`, changeOf(user, { email: 'other@example.test' }))).status).toBe(
      200,
    )
    await world.runJobs()
    daemon.respond(null)
    daemon.calls.length = 0
    world.clock.advance(120)
    await world.runJobs()
    expect(daemon.calls.map(({ path, body }) => [path, body])).toEqual([
      ['/api/deauthorize-user', { user: user.uuid, servers: [own.uuid, shared.uuid] }],
    ])
  })

  it('of another administrator revokes access on every node', async () => {
    const admin = await makeUser(world, { rootAdmin: true })
    const server = await makeServer(world, { node: await makeNode(world, { daemonListen: daemon.port }) })
    await send('PATCH', `/${admin.id}`, changeOf(admin, { email: 'other@example.test' }))
    await world.runJobs()
    expect(daemon.calls.map(({ body }) => body)).toEqual([{ user: admin.uuid, servers: [server.uuid] }])
  })

  it('with the same address in another case, or none, ends nothing', async () => {
    const user = await makeUser(world, { email: 'mara@example.test' })
    await createPasswordReset(world.panel, user, 3600)
    const browser = await openSignedInBrowser(world, user)
    for (const change of [{ first_name: 'Other' }, { email: 'MARA@example.test' }]) {
      expect((await send('PATCH', `/${user.id}`, changeOf(user, change))).status).toBe(200)
    }
    expect(await resetCount(user)).toBe(1)
    expect((await browser.request('GET', '/api/client/account')).body.attributes.email).toBe(
      'MARA@example.test',
    )
  })
})
