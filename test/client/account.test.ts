import { beforeEach, describe, expect, it } from 'vitest'
import { activity, passwordResets, settings, users } from '../../src/db/schema.ts'
import { makeClientToken, makeServer, makeSubuser, makeUser, known } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
const { password, passwordHash } = known
let user: Awaited<ReturnType<typeof makeUser>>
let token: string

beforeEach(async () => {
  user = await makeUser(world, { email: 'Mara@example.test', username: 'mara.k', passwordHash })
  token = await makeClientToken(world, user)
})

const ask = (method: string, path = '', body?: unknown, as = token) =>
  world.request(method, `/api/client/account${path}`, { token: as, ...(body === undefined ? {} : { body }) })
const changeEmail = (email: unknown, proof: unknown = password, as = token) =>
  ask('PUT', '/email', { email, password: proof }, as)
const recorded = () => world.database.db.select().from(activity).orderBy(activity.id)
const emailNow = async () =>
  (await world.database.db.select().from(users).orderBy(users.id)).find(({ id }) => id === user.id)?.email
const failureOf = ({ body }: { body: any }) => [
  body.errors[0].code,
  body.errors[0].meta?.source_field,
  body.errors[0].meta?.rule,
]

describe('the account', () => {
  it('is shown in the words of both ecosystems', async () => {
    const { status, body } = await ask('GET')
    expect(status).toBe(200)
    expect(body).toEqual({
      object: 'user',
      attributes: {
        id: user.id,
        uuid: user.uuid,
        admin: false,
        root_admin: false,
        username: 'mara.k',
        email: 'Mara@example.test',
        first_name: 'Uma',
        last_name: user.lastName,
        language: 'en',
        // The MD5 of mara@example.test.
        image: 'https://gravatar.com/avatar/fe9afcb594d7609f8988c9be72df1065',
        '2fa_enabled': false,
        blur_sensitive_data: false,
        created_at: `${user.createdAt.toISOString().slice(0, 19)}+00:00`,
        updated_at: `${user.updatedAt.toISOString().slice(0, 19)}+00:00`,
      },
    })
  })

  it('is that of the key, read with the key in one statement', async () => {
    const admin = await makeUser(world, { rootAdmin: true, totpEnabledAt: new Date() })
    const as = await makeClientToken(world, admin)
    let body: any
    expect(await world.countStatements(async () => ({ body } = await ask('GET', '', undefined, as)))).toBe(1)
    expect(body.attributes).toMatchObject({
      uuid: admin.uuid,
      admin: true,
      root_admin: true,
      '2fa_enabled': true,
    })
  })
})

describe('another e-mail address', () => {
  it('is stored and recorded, and ends what was mailed to the one before', async () => {
    const expiresAt = new Date(Date.now() + 3.6e6)
    const other = await makeUser(world)
    await world.database.db.insert(passwordResets).values([
      { userId: user.id, tokenHash: 'a', expiresAt },
      { userId: other.id, tokenHash: 'b', expiresAt },
    ])
    const answer = await changeEmail('new@example.test')
    expect([answer.status, answer.text]).toEqual([204, ''])
    expect(await emailNow()).toBe('new@example.test')
    expect(await recorded()).toMatchObject([
      {
        event: 'user:account.email-changed',
        userId: user.id,
        actorId: user.id,
        properties: { old: 'Mara@example.test', new: 'new@example.test' },
      },
    ])
    const resets = await world.database.db.select().from(passwordResets)
    expect(resets.map(({ userId }) => userId)).toEqual([other.id])
  })

  it('needs the present password', async () => {
    for (const wrong of ['hors', ' horse', 'x'.repeat(1024)]) {
      const answer = await changeEmail('new@example.test', wrong)
      expect([answer.status, failureOf(answer)[0]]).toEqual([400, 'InvalidPasswordProvidedException'])
    }
    const otherUser = await makeClientToken(world, await makeUser(world))
    expect((await changeEmail('new@example.test', password, otherUser)).status).toBe(400)
    expect(await emailNow()).toBe('Mara@example.test')
    expect(await recorded()).toEqual([])
  })

  it('AU-12: that is the same but for its case changes nothing and does not count', async () => {
    for (let times = 0; times < 5; times += 1) {
      expect((await changeEmail('mARA@EXAMPLE.test')).status).toBe(204)
    }
    expect(await emailNow()).toBe('Mara@example.test')
    expect(await recorded()).toEqual([])
    expect((await changeEmail('new@example.test')).status).toBe(204)
  })

  it('AU-12: is refused in the same words when it is taken and when it is none', async () => {
    await makeUser(world, { email: 'Taken@example.test' })
    const taken = await changeEmail('taken@EXAMPLE.test')
    expect([taken.status, failureOf(taken)]).toEqual([422, ['ValidationException', 'email', 'email']])
    for (const none of ['taken', 'a@b', `${'a'.repeat(190)}@example.test`, 'a b@example.test']) {
      const answer = await changeEmail(none)
      expect([answer.status, answer.text], none).toEqual([422, taken.text])
    }
    expect(await recorded()).toEqual([])
  })

  it('has rules for both fields', async () => {
    for (const [body, failures] of [
      [{}, ['email required', 'password required']],
      [{ email: 7, password: ['x'] }, ['email string', 'password string']],
      [{ email: 'a@example.test', password: 'x'.repeat(1025) }, ['password max']],
    ] as const) {
      const answer = await ask('PUT', '/email', body)
      expect(answer.status).toBe(422)
      expect(answer.body.errors.map(({ meta }: any) => `${meta.source_field} ${meta.rule}`)).toEqual(failures)
    }
  })

  it('AU-12: is taken three times in 24 hours, those that were not free counted', async () => {
    await makeUser(world, { email: 'taken@example.test' })
    expect((await changeEmail('a@example.test')).status).toBe(204)
    expect((await changeEmail('taken@example.test')).status).toBe(422)
    expect((await changeEmail('b@example.test')).status).toBe(204)
    for (const address of ['c@example.test', 'taken@example.test']) {
      const answer = await changeEmail(address)
      expect([answer.status, failureOf(answer)[0]]).toEqual([429, 'TooManyRequestsHttpException'])
      expect(Number(answer.headers.get('retry-after'))).toBe(86_400)
    }
    expect(await emailNow()).toBe('b@example.test')
    world.clock.advance(86_399)
    expect((await changeEmail('c@example.test')).status).toBe(429)
    world.clock.advance(2)
    expect((await changeEmail('c@example.test')).status).toBe(204)
  })

  it('AU-12: is taken three times of ten at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) => changeEmail(`at-once-${index}@example.test`)),
    )
    expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([
      204,
      204,
      204,
      ...Array.from({ length: 7 }, () => 429),
    ])
    expect((await recorded()).length).toBe(3)
  })
})

describe('guessing the password', () => {
  it('ends after ten attempts for a quarter of an hour, also with the right one', async () => {
    for (let times = 0; times < 10; times += 1) {
      expect((await ask('POST', '/two-factor/disable', { password: `guess ${times}` })).status).toBe(400)
    }
    const sibling = await makeClientToken(world, user)
    for (const [as, proof] of [
      [token, 'guess'],
      [sibling, password],
    ]) {
      const answer = await changeEmail('new@example.test', proof, as)
      expect([answer.status, failureOf(answer)[0]]).toEqual([429, 'TooManyRequestsHttpException'])
      expect(Number(answer.headers.get('retry-after'))).toBe(900)
    }
    expect(await emailNow()).toBe('Mara@example.test')
    world.clock.advance(901)
    expect((await changeEmail('new@example.test')).status).toBe(204)
  })

  it('is no faster when many guess at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, index) => changeEmail('new@example.test', `guess ${index}`)),
    )
    expect(answers.filter(({ status }) => status === 400).length).toBe(10)
    expect(answers.filter(({ status }) => status === 429).length).toBe(6)
  })

  it('is forgotten after the right password, and does not count for other users', async () => {
    const other = await makeUser(world, { passwordHash })
    const guess = (as = token) => changeEmail('new@example.test', 'guess', as)
    for (let times = 0; times < 9; times += 1) await guess()
    expect((await changeEmail('Mara@example.test')).status).toBe(204)
    for (let times = 0; times < 10; times += 1) expect((await guess()).status).toBe(400)
    expect((await guess()).status).toBe(429)
    expect((await guess(await makeClientToken(world, other))).status).toBe(400)
  })
})

describe('privacy', () => {
  const change = (blur: unknown) => ask('PUT', '/privacy', { blur_sensitive_data: blur })

  it('is switched on and off, and recorded when it is different', async () => {
    for (const [sent, stored] of [
      [true, true],
      [1, true],
      [false, false],
    ]) {
      const { status, body } = await change(sent)
      expect([status, body.object, body.attributes.blur_sensitive_data]).toEqual([200, 'user', stored])
      expect((await ask('GET')).body).toEqual(body)
    }
    expect(await recorded()).toMatchObject([
      { event: 'user:account.privacy-updated', userId: user.id, properties: { blur_sensitive_data: true } },
      { event: 'user:account.privacy-updated', userId: user.id, properties: { blur_sensitive_data: false } },
    ])
  })

  it('is said, and is yes or no', async () => {
    for (const [sent, rule] of [
      [undefined, 'required'],
      [null, 'required'],
      ['maybe', 'boolean'],
      [2, 'boolean'],
    ]) {
      const answer = await change(sent)
      expect([answer.status, failureOf(answer)[2]]).toEqual([422, rule])
    }
  })

  it('is refused while the feature is switched off', async () => {
    await world.database.db.insert(settings).values({ key: 'features.privacy_mode', value: false })
    const answer = await change(true)
    expect([answer.status, failureOf(answer)[0]]).toEqual([403, 'AccessDeniedHttpException'])
    expect(await recorded()).toEqual([])
    expect((await ask('GET')).body.attributes.blur_sensitive_data).toBe(false)
  })
})

describe('the language', () => {
  const choose = (language: unknown, accepted = '') =>
    world.request('PUT', '/api/client/account/language', {
      token,
      body: { language },
      headers: { 'accept-language': accepted },
    })

  it('is chosen, or left to the browser', async () => {
    for (const [language, accepted, locale] of [
      ['de', 'fr', 'de'],
      ['auto', 'nl, pt;q=0.8, en;q=0.7', 'pt-BR'],
      ['auto', 'nl', 'en'],
      ['zh-CN', '', 'zh-CN'],
    ]) {
      const { status, body } = await choose(language, accepted)
      expect([status, body]).toEqual([200, { language, locale }])
      expect((await ask('GET')).body.attributes.language).toBe(language)
    }
    expect(await recorded()).toEqual([])
  })

  it('is one that is installed', async () => {
    for (const [language, rule] of [
      ['nl', 'in'],
      ['DE', 'in'],
      ['pt', 'in'],
      [7, 'in'],
      ['', 'required'],
      [undefined, 'required'],
    ]) {
      const answer = await choose(language)
      expect([answer.status, failureOf(answer)]).toEqual([422, ['ValidationException', 'language', rule]])
    }
    expect((await ask('GET')).body.attributes.language).toBe('en')
  })
})

describe('the picture of a subuser', () => {
  it('is the subuser’s own where they have one', async () => {
    const server = await makeServer(world, { owner: user })
    const friend = await makeUser(world, { avatarKey: 'avatars/0123456789abcdef0123456789abcdef.png' })
    await makeSubuser(world, server, friend, [])
    for (const path of [`servers/${server.uuid}?include=subusers`, '?include=subusers']) {
      const { text } = await world.request('GET', `/api/client/${path}`, { token })
      expect(text).toContain('"image":"http://panel.test/avatars/0123456789abcdef0123456789abcdef.png"')
    }
  })
})
