import { beforeEach, describe, expect, it, vi } from 'vitest'
import { activity, passkeys } from '../../src/db/schema.ts'
import type { User } from '../../src/db/tables/users.ts'
import { changeSettings } from '../../src/domain/settings/settings.ts'
import { openAuthenticator } from '../support/authenticator.ts'
import { type Browser, openSignedInBrowser } from '../support/browser.ts'
import { known, makeUser } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'
import { requestCreationOptions, makePasskey, origin, setPanelUrl, signInWith } from './passkey-fixtures.ts'

const world = useWorld()
let user: User
let browser: Browser

beforeEach(async () => {
  setPanelUrl(world, origin)
  user = await makeUser(world, { username: 'mara', passwordHash: known.passwordHash })
  browser = await openSignedInBrowser(world, user)
})

const path = '/account/security/passkeys'
const rows = () => world.database.db.select().from(passkeys)
const remove = (id: number | string, password: unknown = known.password, as = browser) =>
  as.request('DELETE', `${path}/${id}`, { current_password: password })

describe('asking to make a passkey', () => {
  it('wants one that names its account and knows its user, and none that is there already', async () => {
    const authenticator = openAuthenticator(origin)
    expect((await makePasskey(browser, authenticator)).status).toBe(204)
    const { status, body, headers } = await requestCreationOptions(browser)
    expect(status).toBe(200)
    expect(headers.get('cache-control')).toBe('no-store, private')
    expect(body).toMatchObject({
      challenge: expect.stringMatching(/^[\w-]{43}$/),
      rp: { id: 'panel.test', name: 'Roost' },
      user: {
        id: Buffer.from(user.uuid).toString('base64url'),
        name: 'mara',
        displayName: expect.any(String),
      },
      attestation: 'none',
      timeout: 300_000,
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      excludeCredentials: [{ id: authenticator.id, type: 'public-key', transports: ['internal', 'hybrid'] }],
    })
    expect(body.pubKeyCredParams.map(({ alg }: { alg: number }) => alg)).toEqual([-8, -7, -257])
  })

  it('needs the password, and a bounded number of guesses', async () => {
    const ask = (password: unknown) =>
      browser.request('POST', `${path}/options`, { current_password: password })
    expect((await ask(null)).body.errors[0].meta).toMatchObject({
      source_field: 'current_password',
      rule: 'required',
    })
    expect((await ask('x'.repeat(1025))).body.errors[0].meta.rule).toBe('max')
    const answers = await Promise.all(Array.from({ length: 12 }, () => ask('wrong')))
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(2)
    const wrong = answers.find(({ status }) => status === 400)
    expect(wrong?.body.errors[0].code).toBe('InvalidPasswordProvidedException')
    expect(
      (
        await browser.request('POST', path, {
          ...openAuthenticator(origin).make({ challenge: '', user: { id: '' } }),
          name: 'x',
        })
      ).status,
    ).toBe(400)
  })
})

describe('making a passkey', () => {
  it('stores its key and is recorded', async () => {
    const authenticator = openAuthenticator(origin)
    expect((await makePasskey(browser, authenticator, {}, 'My phone')).status).toBe(204)
    expect(await rows()).toMatchObject([
      {
        userId: user.id,
        name: 'My phone',
        credentialId: authenticator.id,
        counter: 0,
        transports: ['internal', 'hybrid'],
        lastUsedAt: null,
      },
    ])
    const [entry] = await world.database.db.select().from(activity)
    expect(entry).toMatchObject({
      event: 'user:passkey.create',
      userId: user.id,
      actorId: user.id,
      source: 'web',
      properties: { name: 'My phone' },
    })
    const { body } = await browser.request('GET', '/account/security')
    expect(body.passkeys).toEqual([
      { id: 1, name: 'My phone', created_at: expect.any(String), last_used_at: null },
    ])
    expect(JSON.stringify(body)).not.toContain(authenticator.id)
    expect((await signInWith(world, authenticator)).answer.status).toBe(200)
  })

  it.each([
    ['on a page of another origin', { origin: 'https://evil.test' }],
    ['for another domain', { rpId: 'evil.test' }],
    ['without knowing the user', { isUserVerified: false }],
    ['in a frame', { crossOrigin: true }],
    ['for another challenge', { challenge: 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' }],
    ['when it was used, not made', { type: 'webauthn.get' }],
    ['attested in no known way', { attestation: 'odd' as const }],
  ])('is refused %s', async (_what, twist) => {
    const { status, body } = await makePasskey(browser, openAuthenticator(origin), twist)
    expect([status, body.errors[0].code]).toEqual([400, 'DisplayException'])
    expect(await rows()).toEqual([])
    expect(await world.events()).toEqual([])
  })

  it('is refused with a certificate, and sends no request for it', async () => {
    const fetched = vi.spyOn(globalThis, 'fetch')
    const { status } = await makePasskey(browser, openAuthenticator(origin), { attestation: 'maker' })
    const addresses = fetched.mock.calls.map(([address]) => String(address))
    fetched.mockRestore()
    expect(status).toBe(400)
    expect(addresses.filter((address) => address.includes('crl.test'))).toEqual([])
  })

  it('takes what vouches for itself', async () => {
    const authenticator = openAuthenticator(origin)
    expect((await makePasskey(browser, authenticator, { attestation: 'itself' })).status).toBe(204)
    expect((await signInWith(world, authenticator)).answer.status).toBe(200)
  })

  it('is refused by another name, twice, in another session and after five minutes', async () => {
    const authenticator = openAuthenticator(origin)
    const creation = await requestCreationOptions(browser)
    const send = (body: object, as = browser) => as.request('POST', path, { ...body, name: 'x' })
    const elsewhere = await openSignedInBrowser(world, user)
    expect((await send(authenticator.make(creation.body), elsewhere)).status).toBe(400)
    const renamed = { ...authenticator.make(creation.body), id: 'AAAA' }
    expect((await send(renamed)).status).toBe(400)
    expect((await send(authenticator.make(creation.body))).status).toBe(400)
    const late = await requestCreationOptions(browser)
    world.clock.advance(301)
    expect((await send(authenticator.make(late.body))).status).toBe(400)
    expect(await rows()).toEqual([])
  })

  it('AU-9: is refused when any account has it', async () => {
    const authenticator = openAuthenticator(origin)
    await makePasskey(browser, authenticator)
    const other = await makeUser(world, { passwordHash: known.passwordHash })
    for (const as of [browser, await openSignedInBrowser(world, other)]) {
      const { status, body } = await makePasskey(as, authenticator)
      expect([status, body.errors[0].meta]).toMatchObject([422, { source_field: 'id', rule: 'unique' }])
    }
    expect(await rows()).toHaveLength(1)
    expect(await world.events()).toEqual(['user:passkey.create'])
  })

  it('is refused with fields beyond their bounds', async () => {
    const { body } = await requestCreationOptions(browser)
    const fits = { ...openAuthenticator(origin).make(body), name: 'x' }
    const { response } = fits
    for (const [changes, field, rule] of [
      [{ name: 'x'.repeat(101) }, 'name', 'max'],
      [{ name: '' }, 'name', 'required'],
      [{ name: 'a\u0007b' }, 'name', 'regex'],
      [{ id: 'a'.repeat(2049) }, 'id', 'max'],
      [
        { response: { ...response, attestationObject: 'a'.repeat(131_073) } },
        'response.attestationObject',
        'max',
      ],
      [{ response: { ...response, clientDataJSON: 'a=' } }, 'response.clientDataJSON', 'regex'],
      [{ response: { ...response, transports: ['telepathy'] } }, 'response.transports.0', 'in'],
      [{ response: { ...response, transports: Array(9).fill('usb') } }, 'response.transports', 'max'],
    ] as const) {
      const answer = await browser.request('POST', path, { ...fits, ...changes })
      expect([answer.status, answer.body.errors[0].meta]).toMatchObject([422, { source_field: field, rule }])
    }
    const withoutTransports = { ...fits, response: { ...response, transports: undefined } }
    expect((await browser.request('POST', path, withoutTransports)).status).toBe(204)
  })

  it('AU-9: is refused beyond the 25th, of ten at once too', async () => {
    await world.database.db.insert(passkeys).values(
      Array.from({ length: 20 }, (_, at) => ({
        userId: user.id,
        name: `No. ${at}`,
        credentialId: `credential-${at}`,
        publicKey: 'AAAA',
      })),
    )
    const browsers = await Promise.all(Array.from({ length: 10 }, () => openSignedInBrowser(world, user)))
    const offers: unknown[] = []
    for (const each of browsers) offers.push((await requestCreationOptions(each)).body)
    const answers = await Promise.all(
      browsers.map((each, at) =>
        each.request('POST', path, { ...openAuthenticator(origin).make(offers[at] as never), name: 'x' }),
      ),
    )
    expect(answers.filter(({ status }) => status === 204)).toHaveLength(5)
    const refused = answers.filter(({ status }) => status === 400)
    expect(refused.map(({ body }) => body.errors[0].code)).toEqual(Array(5).fill('DisplayException'))
    expect(await rows()).toHaveLength(25)
    expect((await requestCreationOptions(browser)).status).toBe(400)
  })
})

describe('taking a passkey away', () => {
  it('needs the password, is recorded, and the passkey opens nothing any more', async () => {
    const authenticator = openAuthenticator(origin)
    await makePasskey(browser, authenticator)
    const wrong = await remove(1, 'wrong')
    expect([wrong.status, wrong.body.errors[0].code]).toEqual([400, 'InvalidPasswordProvidedException'])
    expect(await rows()).toHaveLength(1)
    expect((await remove(1)).status).toBe(204)
    expect(await rows()).toEqual([])
    expect(await world.events()).toEqual(['user:passkey.create', 'user:passkey.delete'])
    expect((await remove(1)).status).toBe(404)
    expect((await signInWith(world, authenticator)).answer.status).toBe(400)
  })

  it('is refused for those of others', async () => {
    await makePasskey(browser, openAuthenticator(origin))
    const other = await makeUser(world, { passwordHash: known.passwordHash })
    const theirs = await openSignedInBrowser(world, other)
    expect((await remove(1, known.password, theirs)).status).toBe(404)
    expect((await remove('abc')).status).toBe(404)
    expect(await rows()).toHaveLength(1)
  })

  it('is refused when it is the last sign-in method', async () => {
    await makePasskey(browser, openAuthenticator(origin))
    await changeSettings(world.panel, { sign_in: { password: false } })
    expect((await remove(1)).status).toBe(400)
    expect(await rows()).toHaveLength(1)
  })
})

describe('while passkeys are switched off', () => {
  it('none is made or taken away', async () => {
    const authenticator = openAuthenticator(origin)
    await makePasskey(browser, authenticator)
    const { body } = await requestCreationOptions(browser)
    await changeSettings(world.panel, { sign_in: { passkeys: false } })
    const made = { ...openAuthenticator(origin).make(body), name: 'x' }
    for (const { status } of [
      await requestCreationOptions(browser),
      await browser.request('POST', path, made),
      await remove(1),
    ]) {
      expect(status).toBe(403)
    }
    expect((await browser.request('GET', '/account/security')).body).toMatchObject({
      passkeys_enabled: false,
      passkeys: [{ id: 1 }],
    })
  })
})
