import { beforeEach, describe, expect, it, vi } from 'vitest'
import { activity, settings } from '../../src/db/schema.ts'
import { getSetting, getSettings } from '../../src/domain/settings/settings.ts'
import { makeApplicationToken } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
let token: string

beforeEach(async () => {
  token = await makeApplicationToken(world)
})

const path = '/api/application/settings'
const read = async () => (await world.request('GET', path, { token })).body.attributes
const change = (body: unknown) => world.request('PATCH', path, { token, body })
const rules = (answer: { body: any }) =>
  answer.body.errors.map(({ meta }: any) => `${meta.source_field}: ${meta.rule}`)
const rows = () => world.database.db.select().from(settings).orderBy(settings.key)

describe('settings', () => {
  it('are all shown with their defaults, in two statements', async () => {
    let answer: any
    const readSettings = async () => (answer = await world.request('GET', path, { token }))
    expect(await world.countStatements(readSettings)).toBe(2)
    expect(answer.body.object).toBe('settings')
    expect(answer.body.attributes).toMatchObject({
      features: { file_trash: true, console_share: false, auto_allocation: false },
      auto_allocation: { range_start: null, range_end: null },
      trash: { retention_days: 7 },
      sign_in: { password: true, google: false, google_client_id: null, google_client_secret: false },
      two_factor: { required: 'nobody' },
      captcha: { provider: 'none', site_key: null, secret: false },
      schedules: { tasks_per_schedule: 10 },
    })
  })

  it('are changed one by one and go back to their defaults', async () => {
    const changed = await change({
      features: { file_trash: '0' },
      trash: { retention_days: '365' },
      mail: { from_name: ' Roost ', from_address: 'panel@example.test' },
    })
    expect(changed.status).toBe(200)
    expect(changed.body.attributes).toEqual(await read())
    expect(changed.body.attributes).toMatchObject({
      features: { file_trash: false, avatars: true },
      trash: { retention_days: 365 },
      mail: { from_name: 'Roost', from_address: 'panel@example.test' },
    })
    expect(await getSetting(world.panel, 'trash.retention_days')).toBe(365)
    await change({ features: { file_trash: null }, trash: { retention_days: '' }, mail: null })
    expect((await rows()).map(({ key }) => key)).toEqual(['mail.from_address', 'mail.from_name'])
    expect(await getSetting(world.panel, 'trash.retention_days')).toBe(7)
  })

  it('survive a change with what was read, but for secrets', async () => {
    const { sign_in: signIn, captcha, ...others } = await read()
    expect((await change(others)).body.attributes).toEqual({ ...others, sign_in: signIn, captcha })
    const answer = await change({ captcha })
    expect(rules(answer)).toEqual(['captcha.secret: string'])
  })

  it('name what is wrong by the dotted key, and change nothing then', async () => {
    const answer = await change({
      trash: { retention_days: 366 },
      features: { file_trash: 'perhaps', time_travel: true },
      two_factor: { required: 'some' },
      mail: { from_name: 'a\nBcc: all', from_address: 'no-address' },
      auto_allocation: { range_start: 80 },
      console_share: { url: 'http://logs.example.test' },
      weather: { sun: true },
      schedules: { tasks_per_schedule: 5 },
    })
    expect(answer.status).toBe(422)
    expect(rules(answer).toSorted()).toEqual([
      'auto_allocation.range_start: min',
      'console_share.url: https',
      'features.file_trash: boolean',
      'features.time_travel: prohibited',
      'mail.from_address: email',
      'mail.from_name: regex',
      'trash.retention_days: max',
      'two_factor.required: in',
      'weather: prohibited',
    ])
    expect(await rows()).toEqual([])
    expect(await world.events()).toEqual([])
  })

  it('are refused where a feature would lack what it needs', async () => {
    const broken: [body: object, failures: string[]][] = [
      [{ features: { console_share: true } }, ['console_share.url: required_if']],
      [{ auto_allocation: { range_start: 25_565 } }, ['auto_allocation.range_end: required_if']],
      [{ auto_allocation: { range_start: 3000, range_end: 2000 } }, ['auto_allocation.range_end: gte']],
      [
        { sign_in: { oidc: true, oidc_client_id: 'roost' } },
        ['sign_in.oidc_client_secret: required_if', 'sign_in.oidc_issuer: required_if'],
      ],
      [
        { captcha: { provider: 'turnstile' } },
        ['captcha.site_key: required_if', 'captcha.secret: required_if'],
      ],
      [{ sign_in: { password: false, passkeys: false } }, ['sign_in.password: accepted']],
    ]
    for (const [body, failures] of broken) {
      const answer = await change(body)
      expect([answer.status, rules(answer)]).toEqual([422, failures])
    }
    const range = { auto_allocation: { range_start: 2000, range_end: 2000 } }
    expect((await change(range)).status).toBe(200)
    expect(rules(await change({ auto_allocation: { range_start: null } }))).toEqual([
      'auto_allocation.range_start: required_if',
    ])
  })

  it('keep a text of digits as text, such as the id of a client', async () => {
    const client = {
      discord_client_id: '12345678901234567890',
      oidc_client_id: 'true',
      oidc_client_secret: '1e3',
    }
    const { status, body } = await change({ sign_in: client })
    expect(status).toBe(200)
    expect(body.attributes.sign_in).toMatchObject({ ...client, oidc_client_secret: true })
    expect((await read()).sign_in).toMatchObject({ ...client, oidc_client_secret: true })
  })

  it('keep secrets encrypted, and show only whether they are set', async () => {
    const canary = 'canary-5d1f0b'
    const errors = vi.spyOn(console, 'error')
    const answers = [
      await change({ captcha: { provider: 'hcaptcha', site_key: 'public', secret: canary } }),
      await change({ captcha: { provider: 'nonsense', secret: canary } }),
      await change({ captcha: { secret: [canary] } }),
      await world.request('GET', path, { token }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([200, 422, 422, 200])
    expect(answers[3]?.body.attributes.captcha.secret).toBe(true)
    const stored = [await rows(), await world.database.db.select().from(activity), errors.mock.calls]
    errors.mockRestore()
    expect(JSON.stringify([stored, answers.map(({ text }) => text)])).not.toContain(canary)
    const opened = await getSettings(world.panel, ['captcha.secret', 'captcha.provider'])
    expect(opened).toEqual({ 'captcha.secret': canary, 'captcha.provider': 'hcaptcha' })
    expect(rules(await change({ captcha: { secret: null } }))).toEqual(['captcha.secret: required_if'])
    expect((await change({ captcha: { provider: 'none', secret: null } })).status).toBe(200)
    expect(await getSetting(world.panel, 'captcha.secret')).toBeNull()
  })

  it('are recorded by the names of those that are different, never their values', async () => {
    await change({ features: { avatars: false, privacy_mode: null }, trash: { retention_days: 7 } })
    await change({ features: { avatars: false } })
    await change({})
    const entries = await world.database.db.select().from(activity)
    expect(entries).toMatchObject([
      {
        event: 'admin:settings.update',
        source: 'api',
        properties: { changed: ['features.avatars', 'trash.retention_days'] },
      },
    ])
  })

  it('hold between each other when they are changed at once', async () => {
    const both = await Promise.all([
      change({ sign_in: { password: false } }),
      change({ sign_in: { passkeys: false } }),
    ])
    expect(both.filter(({ status }) => status === 200).length).toBe(1)
    expect(both.filter(({ status }) => status === 422).length).toBe(1)
    const { password, passkeys } = (await read()).sign_in
    expect(password).not.toBe(passkeys)
  })

  it('need a level of their own', async () => {
    const reader = await makeApplicationToken(world, { settings: 1 })
    expect((await world.request('GET', path, { token: reader })).status).toBe(200)
    const body = { trash: { retention_days: 1 } }
    expect((await world.request('PATCH', path, { token: reader, body })).status).toBe(403)
  })
})
