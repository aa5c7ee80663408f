import { generateHOTP } from 'oslo/otp'
import { base32 } from 'oslo/encoding'
import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { activity, recoveryTokens, sessions, users } from '../../src/db/schema.ts'
import { hashRecoveryToken } from '../../src/domain/auth/recovery-tokens.ts'
import { consumeTotpCode } from '../../src/domain/auth/two-factor.ts'
import { makeClientToken, makeUser, known } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
const { password, passwordHash } = known
let user: Awaited<ReturnType<typeof makeUser>>
let token: string

beforeEach(async () => {
  user = await makeUser(world, { email: 'mara@example.test', passwordHash })
  token = await makeClientToken(world, user)
})

const ask = (method: string, path = '', body?: unknown) =>
  world.request(method, `/api/client/account/two-factor${path}`, {
    token,
    ...(body === undefined ? {} : { body }),
  })
const codeOf = (secret: string, stepsFromNow = 0) =>
  generateHOTP(base32.decode(secret), Math.floor(world.clock.now.getTime() / 30_000) + stepsFromNow)
const setUp = async (): Promise<string> => (await ask('GET')).body.data.secret
const enable = async (secret: string, code?: string, proof: unknown = password) =>
  ask('POST', '', { code: code ?? (await codeOf(secret)), password: proof })
const turnOn = async () => {
  const secret = await setUp()
  const { body } = await enable(secret)
  return { secret, tokens: body.attributes.tokens as string[] }
}
const stored = async () => {
  const [row] = await world.database.db.select().from(users).where(eq(users.id, user.id))
  return row as NonNullable<typeof row>
}
const hashes = async () =>
  (await world.database.db.select().from(recoveryTokens)).map(({ tokenHash }) => tokenHash).toSorted()
const hashesOf = async (tokens: string[]) =>
  (await Promise.all(tokens.map((each) => hashRecoveryToken(user, each)))).toSorted()
const isOn = async () => (await stored()).totpEnabledAt !== null

describe('setting up two-factor authentication', () => {
  it('gives a secret, as text and for a QR code, which is stored sealed', async () => {
    const { status, body, text } = await ask('GET')
    expect(status).toBe(200)
    const { secret } = body.data
    expect(secret).toMatch(/^[A-Z2-7]{32}$/)
    expect(body).toEqual({
      data: {
        image_url_data: `otpauth://totp/Roost:mara%40example.test?secret=${secret}&issuer=Roost`,
        secret,
      },
    })
    const row = await stored()
    expect(row.totpEnabledAt).toBeNull()
    expect(text).not.toContain(row.totpSecret)
    expect(JSON.stringify(row)).not.toContain(secret)
  })

  it('gives another one each time, and forgets the one before', async () => {
    const [first, second] = [await setUp(), await setUp()]
    expect(first).not.toBe(second)
    expect((await enable(first)).body.errors[0].code).toBe('TwoFactorAuthenticationTokenInvalid')
    expect((await enable(second)).status).toBe(200)
  })

  it('is refused when it is on', async () => {
    await turnOn()
    const { totpSecret } = await stored()
    const { status, body } = await ask('GET')
    expect([status, body.errors[0].code]).toEqual([400, 'BadRequestHttpException'])
    expect((await stored()).totpSecret).toBe(totpSecret)
  })
})

describe('turning two-factor authentication on', () => {
  it('answers with ten recovery tokens, ends sessions and is recorded', async () => {
    const other = await makeUser(world)
    const expiresAt = new Date(Date.now() + 3.6e6)
    for (const { id } of [user, other]) {
      await world.database.db.insert(sessions).values({ id: `of ${id}`, userId: id, ip: '::1', expiresAt })
    }
    const { status, body } = await enable(await setUp())
    expect([status, body.object, Object.keys(body.attributes)]).toEqual([200, 'recovery_tokens', ['tokens']])
    const { tokens } = body.attributes
    expect(new Set(tokens).size).toBe(10)
    for (const each of tokens) expect(each).toMatch(/^[A-Za-z0-9]{10}$/)
    expect(await hashes()).toEqual(await hashesOf(tokens))
    expect((await stored()).authVersion).toBe(user.authVersion + 1)
    const left = await world.database.db.select().from(sessions)
    expect(left.map(({ userId }) => userId)).toEqual([other.id])
    expect(await world.database.db.select().from(activity)).toMatchObject([
      { event: 'user:two-factor.create', userId: user.id, actorId: user.id, properties: {} },
    ])
    const account = await world.request('GET', '/api/client/account', { token })
    expect([account.status, account.body.attributes['2fa_enabled']]).toEqual([200, true])
  })

  it('takes the codes of the neighbouring steps', async () => {
    for (const steps of [-1, 1]) {
      const secret = await setUp()
      expect((await enable(secret, await codeOf(secret, steps))).status, String(steps)).toBe(200)
      await ask('POST', '/disable', { password })
    }
    const secret = await setUp()
    for (const steps of [-2, 2]) {
      const { status, body } = await enable(secret, await codeOf(secret, steps))
      expect([status, body.errors[0].code]).toEqual([400, 'TwoFactorAuthenticationTokenInvalid'])
    }
  })

  it('is refused when it is on already, whatever else is wrong', async () => {
    const { secret } = await turnOn()
    for (const proof of [password, 'wrong']) {
      const { status, body } = await enable(secret, undefined, proof)
      expect([status, body.errors[0].code]).toEqual([400, 'BadRequestHttpException'])
    }
  })

  it('needs a secret, the password, and a code of six characters', async () => {
    const before = await enable('', '123456')
    expect([before.status, before.body.errors[0].code]).toEqual([400, 'BadRequestHttpException'])
    const secret = await setUp()
    const wrong = await enable(secret, undefined, 'wrong horse')
    expect([wrong.status, wrong.body.errors[0].code]).toEqual([400, 'BadRequestHttpException'])
    const right = await codeOf(secret)
    const letters = await enable(secret, 'abcdef')
    expect(letters.body.errors[0].code).toBe('TwoFactorAuthenticationTokenInvalid')
    for (const [body, failures] of [
      [{}, ['code required', 'password required']],
      [{ code: `${right}0`, password }, ['code size']],
      [{ code: right.slice(1), password }, ['code size']],
      [{ code: 123_456, password: true }, ['code string', 'password string']],
    ] as const) {
      const answer = await ask('POST', '', body)
      expect(answer.status).toBe(422)
      expect(answer.body.errors.map(({ meta }: any) => `${meta.source_field} ${meta.rule}`)).toEqual(failures)
    }
    expect([await isOn(), await hashes(), await world.events()]).toEqual([false, [], []])
  })

  it('is done once when ten ask at once', async () => {
    const secret = await setUp()
    const answers = await Promise.all(Array.from({ length: 10 }, () => enable(secret)))
    const [winner, ...others] = answers.filter(({ status }) => status === 200)
    expect(others).toEqual([])
    expect(await hashes()).toEqual(await hashesOf(winner?.body.attributes.tokens))
    expect(await world.events()).toEqual(['user:two-factor.create'])
  })
})

describe('a code', () => {
  it('AU-3: is used up by turning two-factor authentication on', async () => {
    const { secret } = await turnOn()
    const spend = async (steps: number) =>
      consumeTotpCode(world.panel, await stored(), await codeOf(secret, steps))
    expect([await spend(0), await spend(-1)]).toEqual([false, false])
    expect([await spend(1), await spend(1)]).toEqual([true, false])
    world.clock.advance(60)
    expect([await spend(-1), await spend(0)]).toEqual([false, true])
  })

  it('AU-3: is right for one of ten who come with it at once', async () => {
    const { secret } = await turnOn()
    world.clock.advance(30)
    const [account, code] = [await stored(), await codeOf(secret)]
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => consumeTotpCode(world.panel, account, code)),
    )
    expect(answers.filter(Boolean).length).toBe(1)
  })

  it('is that of the secret which the account has now', async () => {
    const before = await setUp()
    const account = await stored()
    await setUp()
    expect(await consumeTotpCode(world.panel, account, await codeOf(before))).toBe(false)
    expect(await consumeTotpCode(world.panel, { ...account, totpSecret: null }, '000000')).toBe(false)
  })

  it('opens nothing of another account, whose sealed secret was copied', async () => {
    const { secret } = await turnOn()
    const other = await makeUser(world, { totpSecret: (await stored()).totpSecret })
    await expect(consumeTotpCode(world.panel, other, await codeOf(secret))).rejects.toThrow()
  })
})

describe('turning two-factor authentication off', () => {
  it('forgets secret and tokens, and is recorded', async () => {
    await turnOn()
    const answer = await ask('POST', '/disable', { password })
    expect([answer.status, answer.text]).toEqual([204, ''])
    expect(await stored()).toMatchObject({ totpSecret: null, totpEnabledAt: null, totpLastStep: null })
    expect(await hashes()).toEqual([])
    expect(await world.events()).toEqual(['user:two-factor.create', 'user:two-factor.delete'])
  })

  it('is done by DELETE, too, the name of the route before it was renamed', async () => {
    await turnOn()
    expect((await ask('DELETE', '', {})).status).toBe(422)
    expect((await ask('DELETE', '', { password: 'wrong horse' })).status).toBe(400)
    expect(await isOn()).toBe(true)
    expect((await ask('DELETE', '', { password })).status).toBe(204)
    expect([await isOn(), await hashes()]).toEqual([false, []])
    expect(await world.events()).toEqual(['user:two-factor.create', 'user:two-factor.delete'])
  })

  it('needs the password', async () => {
    await turnOn()
    const { status, body } = await ask('POST', '/disable', { password: 'wrong horse' })
    expect([status, body.errors[0].code]).toEqual([400, 'BadRequestHttpException'])
    expect((await ask('POST', '/disable', {})).status).toBe(422)
    expect([await isOn(), (await hashes()).length]).toEqual([true, 10])
  })

  it('does nothing when it is off, and leaves a secret that waits', async () => {
    const secret = await setUp()
    expect((await ask('POST', '/disable', { password })).status).toBe(204)
    expect((await ask('POST', '/disable', { password: 'wrong horse' })).status).toBe(400)
    expect(await world.events()).toEqual([])
    expect((await enable(secret)).status).toBe(200)
  })

  it('is recorded once when ten ask at once', async () => {
    await turnOn()
    const answers = await Promise.all(Array.from({ length: 10 }, () => ask('POST', '/disable', { password })))
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 204))
    expect(await world.events()).toEqual(['user:two-factor.create', 'user:two-factor.delete'])
  })
})

describe('other recovery tokens', () => {
  const regenerate = (proof = password) => ask('POST', '/regenerate-tokens', { password: proof })

  it('take the place of those before', async () => {
    const { tokens: before } = await turnOn()
    const { status, body } = await regenerate()
    const { tokens } = body.attributes
    expect([status, body.object, tokens.length]).toEqual([200, 'recovery_tokens', 10])
    expect(tokens.filter((each: string) => before.includes(each))).toEqual([])
    expect(await hashes()).toEqual(await hashesOf(tokens))
    expect(await world.events()).toEqual(['user:two-factor.create', 'user:two-factor.regenerate-tokens'])
  })

  it('are refused when two-factor authentication is off, and with a wrong password', async () => {
    await setUp()
    expect((await regenerate()).body.errors[0].code).toBe('BadRequestHttpException')
    const { tokens } = await turnOn()
    const { status, body } = await regenerate('wrong horse')
    expect([status, body.errors[0].code]).toEqual([400, 'BadRequestHttpException'])
    expect(await hashes()).toEqual(await hashesOf(tokens))
    expect(await world.events()).toEqual(['user:two-factor.create'])
  })

  it('are one set when eight ask at once', async () => {
    await turnOn()
    const answers = await Promise.all(Array.from({ length: 8 }, () => regenerate()))
    const sets = await Promise.all(answers.map(({ body }) => hashesOf(body.attributes.tokens)))
    const before = await hashes()
    expect(sets.filter((set) => set.join() === before.join()).length).toBe(1)
  })

  it('AU-3: are hashed with the account they belong to', async () => {
    const other = await makeUser(world)
    expect(await hashRecoveryToken(user, 'k3V9sQ0aZt')).toBe(await hashRecoveryToken(user, 'k3V9sQ0aZt'))
    expect(await hashRecoveryToken(user, 'k3V9sQ0aZt')).not.toBe(await hashRecoveryToken(user, 'K3V9sQ0aZt'))
    expect(await hashRecoveryToken(user, 'k3V9sQ0aZt')).not.toBe(await hashRecoveryToken(other, 'k3V9sQ0aZt'))
  })
})
