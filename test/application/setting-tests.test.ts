import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { httpOauth } from '../../src/adapters/oauth.ts'
import { s3ObjectStore } from '../../src/adapters/objects.ts'
import { changeSettings } from '../../src/domain/settings/settings.ts'
import { testEgress } from '../support/egress.ts'
import { makeKey, makeUser, fullAcl } from '../support/factories.ts'
import { openTestStore, type TestStore } from '../support/object-store.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
let token: string

beforeEach(async () => {
  const admin = await makeUser(world, { rootAdmin: true, email: 'root@example.test' })
  token = (await makeKey(world, admin, { type: 'application', acl: fullAcl })).token
})

const test = (name: string, body: object = {}) =>
  world.request('POST', `/api/application/settings/test/${name}`, { token, body })

describe('the test of mail', () => {
  it('sends one to the caller, and says that it was stored', async () => {
    const { status, body } = await test('mail')
    expect(status).toBe(200)
    expect(body.attributes).toMatchObject({ test: 'mail', is_successful: true })
    expect(body.attributes.steps[0].detail).toContain('stored in the outbox')
    expect(await world.mails()).toMatchObject([{ to: 'root@example.test', subject: 'Test mail of Roost' }])
    expect(await world.events()).toEqual(['admin:settings.test'])
  })

  it('goes to another address, and says why it failed', async () => {
    const send = () => Promise.reject(new Error('The mail service answered 401: "no such token".'))
    Object.assign(world.services, { mail: { send } })
    const { body } = await test('mail', { to: 'ops@example.test' })
    expect(body.attributes).toMatchObject({
      is_successful: false,
      steps: [{ name: 'mail', state: 'failed', detail: expect.stringContaining('answered 401') }],
    })
    expect((await test('mail', { to: 'no address' })).status).toBe(422)
  })
})

describe('the test of the object store', () => {
  let store: TestStore
  beforeAll(async () => {
    store = await openTestStore()
  })
  afterAll(() => store.close())

  it('does what backups do, step by step', async () => {
    Object.assign(world.services, { objects: s3ObjectStore(store.options) })
    const { body } = await test('bucket')
    expect(body.attributes.steps.map(({ name, state }: any) => [name, state])).toEqual(
      ['bucket', 'upload', 'size', 'download', 'removal', 'abort'].map((name) => [name, 'ok']),
    )
  })

  it('stops at the step that fails', async () => {
    Object.assign(world.services, { objects: s3ObjectStore({ ...store.options, secretAccessKey: 'wrong' }) })
    const { body } = await test('bucket')
    expect(body.attributes.is_successful).toBe(false)
    expect(body.attributes.steps.at(-1).state).toBe('failed')
    expect(JSON.stringify(body)).not.toContain(store.options.secretAccessKey)
  })

  it('is refused while objects are on the own disk', async () => {
    expect((await test('bucket')).status).toBe(400)
  })
})

describe('the test of OpenID Connect', () => {
  it('needs an issuer, and says why discovery fails', async () => {
    expect((await test('oidc')).status).toBe(400)
    const oidc = { oidc_issuer: 'https://127.0.0.1:1', oidc_client_id: 'roost' }
    await changeSettings(world.panel, { sign_in: oidc })
    Object.assign(world.services, { oauth: httpOauth(testEgress.fetch, { timeoutMs: 2_000 }) })
    const { body } = await test('oidc')
    expect(body.attributes).toMatchObject({
      test: 'oidc',
      is_successful: false,
      steps: [
        { name: 'discovery', state: 'failed', detail: expect.stringMatching(/./) },
        { name: 'secret', state: 'failed' },
      ],
    })
  })
})
