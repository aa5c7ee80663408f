import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { eggs, passkeys, users } from '../../src/db/schema.ts'
import { verifyPassword } from '../../src/domain/auth/password-hash.ts'
import { issueSetupCode } from '../../src/domain/setup/code.ts'
import { openAuthenticator } from '../support/authenticator.ts'
import { type Browser, openBrowser } from '../support/browser.ts'
import { makeAllocation, makeEgg, makeNode, makeServer, makeUser } from '../support/factories.ts'
import { useStubDaemon } from '../support/stub-daemon.ts'
import { useWorld } from '../support/world.ts'
import { isSignedIn, origin, setPanelUrl } from './passkey-fixtures.ts'

const world = useWorld()
const daemon = useStubDaemon()
const account = { username: 'Ada', email: 'ada@example.test' }
const password = { password: 'correct horse', password_confirmation: 'correct horse' }
let browser: Browser
let code: string

beforeEach(async () => {
  browser = await openBrowser(world)
  code = (await issueSetupCode(world.panel)) ?? ''
})

const send = (changes: object = {}, as = browser) =>
  as.request('POST', '/auth/setup', { ...account, ...password, code, ...changes })
const ruleOf = ({ status, body }: { status: number; body: any }) => [
  status,
  ...body.errors.map(({ meta }: any) => `${meta?.source_field} ${meta?.rule}`),
]
const accounts = () => world.database.db.select().from(users)

describe('a panel without users', () => {
  it('says in its pages and its state that it has to be set up', async () => {
    const state = await browser.request('GET', '/auth/setup/state')
    expect(state.body.data).toEqual({
      is_due: true,
      has_passkeys: false,
      has_demo: false,
      name: 'Roost',
      url: 'http://panel.test',
      timezone: 'UTC',
    })
    for (const path of ['/auth/login', '/auth/setup']) {
      expect((await browser.request('GET', path)).text).toContain('"setup":{"isDue":true}')
    }
    await send()
    const guest = await openBrowser(world)
    expect((await guest.request('GET', '/auth/login')).text).toContain('"setup":{"isDue":false}')
    expect((await guest.request('GET', '/auth/setup/state')).body.data.is_due).toBe(false)
  })

  it('gets its first administrator with the code, who is signed in', async () => {
    const { status, body } = await send({ code: code.toLowerCase().replaceAll('-', ' ') })
    expect(status).toBe(200)
    expect(body.data).toMatchObject({ complete: true, user: { username: 'ada', root_admin: true } })
    expect(await isSignedIn(browser)).toBe(true)
    const [user] = await accounts()
    expect(user).toMatchObject({ rootAdmin: true, emailVerifiedAt: world.clock.now })
    expect(await verifyPassword(password.password, user?.passwordHash ?? null)).toBe(true)
    expect(await world.events()).toEqual(['admin:user.create', 'auth:success'])
  })

  it('gets its first administrator with a passkey and no password', async () => {
    setPanelUrl(world, origin)
    browser = await openBrowser(world)
    const authenticator = openAuthenticator(origin)
    const options = await browser.request('POST', '/auth/setup/passkey/options', { ...account, code })
    expect(options.status).toBe(200)
    const passkey = { ...authenticator.make(options.body), name: 'Laptop' }
    const { status } = await send({ password: null, password_confirmation: null, passkey })
    expect(status).toBe(200)
    expect(await isSignedIn(browser)).toBe(true)
    expect((await accounts())[0]).toMatchObject({ passwordHash: null })
    expect(await world.database.db.select().from(passkeys)).toMatchObject([{ name: 'Laptop' }])
    expect(await world.events()).toEqual(['admin:user.create', 'user:passkey.create', 'auth:success'])
    const guest = await openBrowser(world)
    const request = await guest.request('POST', '/auth/passkeys/options')
    const signedIn = await guest.request('POST', '/auth/passkeys/login', authenticator.use(request.body))
    expect(signedIn.status).toBe(200)
  })

  it('AU-9: takes no passkey that was made for another request', async () => {
    setPanelUrl(world, origin)
    browser = await openBrowser(world)
    const authenticator = openAuthenticator(origin)
    const options = await browser.request('POST', '/auth/setup/passkey/options', { ...account, code })
    const passkey = { ...authenticator.make(options.body), name: 'Laptop' }
    expect((await send({ password: null, passkey }, await openBrowser(world))).status).toBe(400)
    expect(await accounts()).toEqual([])
  })

  it.each([
    [{ code: 'AAAA-BBBB-CCCC-DDDD' }, [422, 'code in']],
    [{ code: '' }, [422, 'code required']],
    [{ password: 'short', password_confirmation: 'short' }, [422, 'password min']],
    [{ password_confirmation: 'other' }, [422, 'password confirmed']],
    [{ password: null, password_confirmation: null }, [422, 'password required_without']],
    [{ email: 'ada' }, [422, 'email email']],
  ])('refuses %j', async (changes, expected) => {
    expect(ruleOf(await send(changes))).toEqual(expected)
    expect(await accounts()).toEqual([])
  })

  it('takes one code: the newest, or the configured one', async () => {
    const newer = (await issueSetupCode(world.panel)) ?? ''
    expect(newer).not.toBe(code)
    expect((await send()).status).toBe(422)
    Object.assign(world.services.config, { setupCode: 'code-of-the-operator' })
    expect((await send({ code: newer })).status).toBe(422)
    expect((await send({ code: 'code-of-the-operator' })).status).toBe(200)
  })

  it('takes ten attempts of a network in 15 minutes', async () => {
    for (let at = 0; at < 10; at += 1) expect((await send({ code: 'wrong' })).status).toBe(422)
    expect((await send()).status).toBe(429)
    world.clock.advance(901)
    expect((await send()).status).toBe(200)
  })

  it('gets one administrator from parallel requests', async () => {
    const others = await Promise.all([1, 2, 3].map(() => openBrowser(world)))
    const sent = await Promise.all(
      others.map((other, at) => send({ username: `ada${at}`, email: `ada${at}@example.test` }, other)),
    )
    expect(sent.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([200, 403, 403])
    expect(await accounts()).toHaveLength(1)
  })
})

describe('a demo in place of the set-up', () => {
  const choose = (sent: string) => browser.request('POST', '/auth/setup/demo', { code: sent })

  it('is offered only where it is safe', async () => {
    expect((await choose(code)).status).toBe(403)
  })

  it('is made with the code, and its administrator is signed in', async () => {
    let started = 0
    const startDemo = async () => {
      started += 1
      return (await makeUser(world, { rootAdmin: true })).username
    }
    Object.assign(world.services, { startDemo })
    onTestFinished(() => void Object.assign(world.services, { startDemo: undefined }))
    expect((await browser.request('GET', '/auth/setup/state')).body.data.has_demo).toBe(true)
    expect(ruleOf(await choose('guess'))).toEqual([422, 'code in'])
    expect(started).toBe(0)
    expect((await choose(code)).status).toBe(200)
    expect(await isSignedIn(browser)).toBe(true)
    const other = await openBrowser(world)
    expect((await other.request('POST', '/auth/setup/demo', { code })).status).toBe(403)
    expect(started).toBe(1)
  })
})

describe('a panel with users', () => {
  it('is not set up again', async () => {
    await makeUser(world)
    expect((await send()).status).toBe(403)
    expect((await browser.request('POST', '/auth/setup/passkey/options', { ...account, code })).status).toBe(
      403,
    )
    expect(await issueSetupCode(world.panel)).toBeNull()
    expect((await accounts()).map(({ rootAdmin }) => rootAdmin)).toEqual([false])
  })
})

describe('the steps of the set-up', () => {
  const progress = async () => (await browser.request('GET', '/api/application/setup')).body.attributes
  const openSteps = async () =>
    (await progress()).steps.flatMap(({ id, state }: any) => (state === 'open' ? [id] : []))

  it('are found in the database, and can be skipped, left and resumed', async () => {
    await send()
    expect(await progress()).toMatchObject({ is_started: true, is_complete: false, node_id: null })
    expect(await openSteps()).toEqual(['panel', 'mail', 'location', 'node', 'allocations', 'game', 'server'])
    const patched = await browser.request('PATCH', '/api/application/setup', {
      steps: { mail: 'skipped', panel: 'done', game: 'done' },
    })
    expect(patched.status).toBe(200)
    const node = await makeNode(world, { daemonListen: daemon.port })
    await makeAllocation(world, node)
    expect(await openSteps()).toEqual(['node', 'server'])
    const asked = await browser.request('POST', `/api/application/nodes/${node.id}/heartbeat`)
    expect(asked.body.attributes).toMatchObject({ state: 'up', version: '1.11.13' })
    await makeServer(world, { node })
    expect(await progress()).toMatchObject({ is_complete: true, node_id: node.id })
    expect(await world.events()).toContain('admin:setup.update')
  })

  it('keep the egg that was chosen for the first server, while there is one', async () => {
    await send()
    const egg = await makeEgg(world)
    const change = (egg_id: number) => browser.request('PATCH', '/api/application/setup', { egg_id })
    expect(ruleOf(await change(egg.id + 1))).toEqual([422, 'egg_id exists'])
    expect((await change(egg.id)).body.attributes).toMatchObject({
      egg_id: egg.id,
      url: 'http://panel.test',
      sends_mail: false,
    })
    await world.database.db.delete(eggs)
    expect((await progress()).egg_id).toBeNull()
  })

  it('can be put away', async () => {
    await send()
    await browser.request('PATCH', '/api/application/setup', { is_dismissed: true })
    expect(await progress()).toMatchObject({ is_complete: true, is_dismissed: true })
    const unknown = await browser.request('PATCH', '/api/application/setup', { steps: { tea: 'done' } })
    expect(unknown.status).toBe(422)
  })

  it('include a command that configures Wings with a key for nodes alone', async () => {
    await send()
    const node = await makeNode(world)
    const { body } = await browser.request('POST', `/api/application/nodes/${node.id}/configure-command`)
    const [, token = ''] =
      /^wings configure --panel-url http:\/\/panel\.test --token (\S+) --node \d+$/.exec(
        body.attributes.command,
      ) ?? []
    const at = `/api/application/nodes/${node.id}/configuration`
    expect((await world.request('GET', at, { token })).body.uuid).toBe(node.uuid)
    expect((await world.request('GET', '/api/application/locations', { token })).status).toBe(403)
    world.clock.advance(3601)
    expect((await world.request('GET', at, { token })).status).toBe(401)
  })
})
