import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { single } from '../../src/db/database.ts'
import { activity, jobs, passwordResets, recoveryTokens, sessions, users } from '../../src/db/schema.ts'
import type { User } from '../../src/db/tables/users.ts'
import { dispatchOperation } from '../../src/cli/operations.ts'
import { changeSettings } from '../../src/domain/settings/settings.ts'
import { openBrowser, openSignedInBrowser } from '../support/browser.ts'
import {
  known,
  makeApplicationToken,
  makeClientToken,
  makeNode,
  makeServer,
  makeUser,
} from '../support/factories.ts'
import { giveSecondFactor } from '../support/second-factor.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
let token: string
let user: User

beforeEach(async () => {
  token = await makeApplicationToken(world)
  user = await makeUser(world, { username: 'mara', passwordHash: known.passwordHash })
})

const send = (method: string, path: string, body?: unknown, as = token) =>
  world.request(method, `/api/application/users${path}`, {
    token: as,
    ...(body === undefined ? {} : { body }),
  })
const stored = async (id = user.id) =>
  single(await world.database.db.select().from(users).where(eq(users.id, id)))
const login = async (password: string, name = 'mara') =>
  (await openBrowser(world)).request('POST', '/auth/login', { user: name, password })

/** Sends the waiting mails; returns those since the last call. */
async function newMails() {
  const before = (await world.mails()).length
  await world.runJobs()
  return (await world.mails()).slice(before)
}

/** Follows the link of a mail and chooses a password. */
async function choosePassword(text: string, password: string) {
  const url = new URL(/http:\/\/\S+\/auth\/password\/reset\/\S+/.exec(text)?.[0] ?? '')
  return (await openBrowser(world)).request('POST', '/auth/password/reset', {
    token: url.pathname.split('/').pop(),
    email: url.searchParams.get('email'),
    password,
    password_confirmation: password,
  })
}

const maria = {
  username: 'maria',
  email: 'maria@example.test',
  first_name: 'Maria',
  last_name: 'K',
  language: 'de',
}

describe('an account that is created without a password gets the mail that lets them choose one', () => {
  it('by the Application API, in their language, for three days', async () => {
    const { status, body } = await send('POST', '', maria)
    expect(status).toBe(201)
    const [mail, ...others] = await newMails()
    expect([mail?.to, mail?.subject, others]).toEqual([maria.email, 'Dein Konto bei Roost', []])
    const [reset] = await world.database.db.select().from(passwordResets)
    expect(reset?.userId).toBe(body.attributes.id)
    expect(reset!.expiresAt.getTime() - world.clock.now.getTime()).toBe(3 * 86_400_000)
    expect((await choosePassword(mail?.text ?? '', 'chosen horse')).status).toBe(200)
    expect((await login('chosen horse', 'maria')).status).toBe(200)
  })

  it('also when the password is null or empty, and not when there is one', async () => {
    for (const [name, password] of [
      ['one', null],
      ['two', ''],
    ] as const) {
      const names = { username: name, email: `${name}@example.test`, password }
      expect((await send('POST', '', { ...maria, ...names })).status).toBe(201)
    }
    expect(await newMails()).toHaveLength(2)
    expect((await send('POST', '', { ...maria, password: 'correct horse' })).status).toBe(201)
    expect(await newMails()).toEqual([])
  })

  it('by the command line, where the printed password works as well', async () => {
    const created = (await dispatchOperation(world.panel, {
      verb: 'user:create',
      input: { username: 'ada', email: 'ada@example.test' },
    })) as { password: string }
    expect((await newMails()).map(({ to, subject }) => [to, subject])).toEqual([
      ['ada@example.test', 'Your account on Roost'],
    ])
    expect((await login(created.password, 'ada')).status).toBe(200)
    const given = { username: 'eve', email: 'eve@example.test', password: 'correct horse' }
    expect(await dispatchOperation(world.panel, { verb: 'user:create', input: given })).not.toHaveProperty(
      'password',
    )
    expect(await newMails()).toEqual([])
  })

  it('not when the setting is off, nor while passwords are', async () => {
    for (const settings of [
      { notifications: { account_created: false } },
      { notifications: { account_created: true }, sign_in: { password: false } },
    ]) {
      await changeSettings(world.panel, settings)
      const username = `quiet${Object.keys(settings).length}`
      expect((await send('POST', '', { ...maria, username, email: `${username}@example.test` })).status).toBe(
        201,
      )
      expect(await newMails()).toEqual([])
    }
    expect(await world.database.db.select().from(passwordResets)).toEqual([])
  })

  it('not when the account was refused', async () => {
    expect((await send('POST', '', { ...maria, username: 'MARA' })).status).toBe(422)
    expect(await world.database.db.select().from(jobs)).toEqual([])
  })
})

describe('POST users takes a password of any length from an Application key', () => {
  it.each(['x', ' ', 'short', 'x'.repeat(1024)])('and signs in with it (%#)', async (password) => {
    expect((await send('POST', '', { ...maria, password })).status).toBe(201)
    expect((await login(password, 'maria')).status).toBe(200)
    const names = { username: 'mara', email: user.email, first_name: 'Mara', last_name: 'K' }
    expect((await send('PATCH', `/${user.id}`, { ...names, password })).status).toBe(200)
    expect((await login(password)).status).toBe(200)
  })

  it('up to 1,024 characters', async () => {
    const { status, body } = await send('POST', '', { ...maria, password: 'x'.repeat(1025) })
    expect([status, body.errors[0].meta]).toMatchObject([422, { source_field: 'password', rule: 'max' }])
  })

  it('and nowhere else', async () => {
    const input = { username: 'ada', email: 'ada@example.test', password: 'short' }
    await expect(dispatchOperation(world.panel, { verb: 'user:create', input })).rejects.toMatchObject({
      status: 422,
    })
    const change = { current_password: known.password, password: 'short', password_confirmation: 'short' }
    const key = await makeClientToken(world, user)
    expect(
      (await world.request('PUT', '/api/client/account/password', { token: key, body: change })).status,
    ).toBe(422)
  })
})

describe('a password reset by an administrator', () => {
  const ways = [
    ['the Application route', async () => (await send('POST', `/${user.id}/reset-password`)).status],
    [
      'user:reset-password',
      async () => {
        const input = { user: 'MARA' }
        return dispatchOperation(world.panel, { verb: 'user:reset-password', input }).then(() => 204)
      },
    ],
  ] as const

  it.each(ways)(
    'by %s ends the password, sessions and links, and mails another link',
    async (_way, reset) => {
      await makeServer(world, { owner: user, node: await makeNode(world) })
      const browser = await openSignedInBrowser(world, user)
      const key = await makeClientToken(world, user)
      const before = new Date(world.clock.now.getTime() + 3_600_000)
      const earlier = { userId: user.id, tokenHash: 'earlier', expiresAt: before }
      await world.database.db.insert(passwordResets).values(earlier)
      expect(await reset()).toBe(204)
      expect((await login(known.password)).status).toBe(400)
      expect((await browser.request('GET', '/api/client/account')).status).toBe(401)
      expect(await world.database.db.select().from(sessions)).toEqual([])
      const hashes = (await world.database.db.select().from(passwordResets)).map(({ tokenHash }) => tokenHash)
      expect(hashes).not.toContain('earlier')
      expect((await world.request('GET', '/api/client/account', { token: key })).status).toBe(200)
      const revocations = (await world.database.db.select().from(jobs)).filter(
        ({ name }) => name === 'revoke-daemon-access',
      )
      expect(revocations).toHaveLength(1)
      const mails = await newMails()
      expect(mails.map(({ to, subject }) => [to, subject])).toEqual([
        [user.email, 'Your password for Roost was reset'],
      ])
      expect((await choosePassword(mails[0]?.text ?? '', 'another horse')).status).toBe(200)
      expect((await login('another horse')).status).toBe(200)
    },
  )

  it('is recorded for the account, with the key that did it', async () => {
    await send('POST', `/${user.id}/reset-password`)
    const [entry] = await world.database.db.select().from(activity)
    expect(entry).toMatchObject({ event: 'admin:user.reset-password', userId: user.id, source: 'api' })
    expect([entry?.actorId, entry?.apiKeyId]).toEqual([expect.any(Number), expect.any(Number)])
    const input = { user: String(user.id) }
    await dispatchOperation(world.panel, { verb: 'user:reset-password', input })
    const [, byOperator] = await world.database.db.select().from(activity).orderBy(activity.id)
    expect(byOperator).toMatchObject({ event: 'admin:user.reset-password', source: 'system', actorId: null })
  })

  it('on the command line prints a link that works beside the mailed one', async () => {
    const verb = 'user:reset-password'
    const printed = (await dispatchOperation(world.panel, { verb, input: { user: user.email } })) as {
      url: string
    }
    expect((await newMails())[0]?.text).not.toContain(printed.url)
    expect((await choosePassword(printed.url, 'printed horse')).status).toBe(200)
    expect((await login('printed horse')).status).toBe(200)
  })

  it('is refused to a key without write access, for administrators to one without theirs, and for unknown users', async () => {
    const administrator = await makeUser(world, { rootAdmin: true, passwordHash: known.passwordHash })
    const reader = await makeApplicationToken(world, { users: 1 })
    const writer = await makeApplicationToken(world, { users: 3 })
    for (const verb of ['reset-password', 'reset-two-factor']) {
      expect((await send('POST', `/${user.id}/${verb}`, undefined, reader)).status).toBe(403)
      expect((await send('POST', `/${administrator.id}/${verb}`, undefined, writer)).status).toBe(403)
      expect((await send('POST', `/9999/${verb}`)).status).toBe(404)
    }
    expect((await stored()).passwordHash).toBe(known.passwordHash)
    expect((await stored(administrator.id)).passwordHash).toBe(known.passwordHash)
    expect(await world.events()).toEqual([])
    expect(await world.database.db.select().from(jobs)).toEqual([])
    const input = { user: 'unknown' }
    await expect(dispatchOperation(world.panel, { verb: 'user:reset-password', input })).rejects.toThrow()
  })
})

describe('a reset of two-factor authentication by an administrator', () => {
  const ways = [
    ['the Application route', async () => (await send('POST', `/${user.id}/reset-two-factor`)).status],
    [
      'user:reset-2fa',
      async () => {
        const input = { user: 'mara' }
        const output = await dispatchOperation(world.panel, { verb: 'user:reset-2fa', input })
        expect(output).toEqual({ user: { id: user.id, username: 'mara' }, was_enabled: true })
        return 204
      },
    ],
  ] as const

  it.each(ways)('by %s lets the owner in with the password alone, who is told', async (_way, reset) => {
    await giveSecondFactor(world, user)
    const browser = await openSignedInBrowser(world, user)
    const challenged = await openBrowser(world)
    const { body } = await challenged.request('POST', '/auth/login', {
      user: 'mara',
      password: known.password,
    })
    expect(body.data.complete).toBe(false)
    expect(await reset()).toBe(204)
    expect(await stored()).toMatchObject({ totpSecret: null, totpEnabledAt: null, totpLastStep: null })
    expect(await world.database.db.select().from(recoveryTokens)).toEqual([])
    expect((await browser.request('GET', '/api/client/account')).status).toBe(401)
    const code = { confirmation_token: body.data.confirmation_token, authentication_code: '123456' }
    expect((await challenged.request('POST', '/auth/login/checkpoint', code)).status).toBe(400)
    expect((await login(known.password)).body.data.complete).toBe(true)
    expect((await world.events()).filter((event) => event.startsWith('admin:'))).toEqual([
      'admin:user.reset-two-factor',
    ])
    expect((await newMails()).map(({ to, subject }) => [to, subject])).toEqual([
      [user.email, 'Two-factor authentication was switched off for your account on Roost'],
    ])
  })

  it('does nothing where it is off, and happens once of ten at once', async () => {
    expect((await send('POST', `/${user.id}/reset-two-factor`)).status).toBe(204)
    expect(await world.events()).toEqual([])
    await giveSecondFactor(world, user)
    await Promise.all(Array.from({ length: 10 }, () => send('POST', `/${user.id}/reset-two-factor`)))
    expect(await world.events()).toEqual(['admin:user.reset-two-factor'])
    expect(await newMails()).toHaveLength(1)
  })
})

describe('mail:test', () => {
  const verb = 'mail:test'

  it('sends a mail from whom the settings name', async () => {
    await changeSettings(world.panel, { mail: { from_name: 'Höst', from_address: 'help@example.test' } })
    const output = await dispatchOperation(world.panel, { verb, input: { to: 'ada@example.test' } })
    expect(output).toEqual({ to: 'ada@example.test', is_stored: true })
    expect(await world.mails()).toMatchObject([
      {
        to: 'ada@example.test',
        from: { name: 'Höst', address: 'help@example.test' },
        subject: 'Test mail of Roost',
      },
    ])
  })

  it('tells why the mail service refuses it, and what is no address', async () => {
    const mail = {
      send: async () => {
        throw new Error('The mail provider answered 401.')
      },
    }
    const panel = { ...world.panel, mail }
    const input = { to: 'ada@example.test' }
    await expect(dispatchOperation(panel, { verb, input })).rejects.toThrow(
      'The mail was not sent: The mail provider answered 401.',
    )
    await expect(dispatchOperation(world.panel, { verb, input: { to: 'ada' } })).rejects.toMatchObject({
      status: 422,
    })
    expect(await world.mails()).toEqual([])
  })
})
