import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { activity, activitySubjects, passwordResets, subusers, users } from '../../src/db/schema.ts'
import { digest } from '../../src/domain/secrets.ts'
import { makeClientToken, makeServer, makeSubuser, makeUser } from '../support/factories.ts'
import { panelUrl, useWorld } from '../support/world.ts'

const world = useWorld()
let owner: Awaited<ReturnType<typeof makeUser>>
let server: Awaited<ReturnType<typeof makeServer>>
let token: string

beforeEach(async () => {
  owner = await makeUser(world)
  server = await makeServer(world, { owner, name: 'Sky & <b>"Sea"</b>' })
  token = await makeClientToken(world, owner)
})

const at = (user = '') => `/api/client/servers/${server.uuid}/users${user && `/${user}`}`
const list = () => world.request('GET', at(), { token })
const invite = (email: unknown, permissions: unknown = ['control.start'], as = token) =>
  world.request('POST', at(), { token: as, body: { email, permissions } })
const codeOf = ({ status, body }: { status: number; body: any }) => [status, body.errors[0].code]
const accounts = () => world.database.db.select().from(users).orderBy(users.id)

describe('the people of a server', () => {
  it('are listed in the order in which they came, with what they may do', async () => {
    expect((await list()).body).toEqual({ object: 'list', data: [] })
    const first = await makeUser(world, { totpEnabledAt: new Date() })
    const second = await makeUser(world)
    await makeSubuser(world, server, first, ['file.read', 'websocket.connect'])
    await makeSubuser(world, server, second, ['websocket.connect'])
    await makeSubuser(world, await makeServer(world), await makeUser(world), [])
    const { status, body } = await list()
    expect(status).toBe(200)
    expect(body.data.map(({ attributes }: any) => attributes.uuid)).toEqual([first.uuid, second.uuid])
    expect(body.data[0]).toEqual({
      object: 'server_subuser',
      attributes: {
        uuid: first.uuid,
        username: first.username,
        email: first.email,
        image: expect.stringMatching(/^https?:\/\//),
        '2fa_enabled': true,
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*\+00:00$/),
        permissions: ['file.read', 'websocket.connect'],
      },
    })
    const shown = await world.request('GET', at(first.uuid), { token })
    expect(shown.body).toEqual(body.data[0])
  })

  it('are found below their own server alone', async () => {
    const otherUser = await makeUser(world)
    await makeSubuser(world, await makeServer(world, { owner }), otherUser, [])
    for (const user of [otherUser.uuid, owner.uuid, crypto.randomUUID(), 'unknown', String(otherUser.id)]) {
      for (const [method, body] of [['GET'], ['POST', { permissions: [] }], ['DELETE']] as const) {
        const answer = await world.request(method, at(user), { token, ...(body ? { body } : {}) })
        expect(codeOf(answer), `${method} ${user}`).toEqual([404, 'NotFoundHttpException'])
      }
    }
    expect(await world.events()).toEqual([])
  })
})

describe('an invitation', () => {
  it('adds a user with an account, whatever the case of the address, and notifies them', async () => {
    const friend = await makeUser(world, { email: 'Friend@Example.test', passwordHash: 'scrypt$x' })
    const { status, body } = await invite('fRIEND@example.TEST', ['file.read', 'control.start'])
    expect(status).toBe(200)
    expect(body).toMatchObject({
      object: 'server_subuser',
      attributes: {
        uuid: friend.uuid,
        email: 'Friend@Example.test',
        permissions: ['file.read', 'control.start', 'websocket.connect'],
      },
    })
    expect(await accounts()).toHaveLength(2)
    expect(await world.mails()).toEqual([])
    await world.runJobs()
    const [mail, ...more] = await world.mails()
    expect(more).toEqual([])
    expect(mail?.to).toBe('Friend@Example.test')
    expect(mail?.text).toContain('Sky & <b>"Sea"</b>')
    expect(mail?.text).toContain(`${panelUrl}/server/${server.uuidShort}`)
    expect(mail?.html).toContain('Sky &amp; &lt;b&gt;&quot;Sea&quot;&lt;/b&gt;')
    expect(mail?.html).not.toContain('<b>')
    expect(await world.database.db.select().from(passwordResets)).toEqual([])
  })

  it('is recorded with the subuser and their permissions', async () => {
    const friend = await makeUser(world)
    await invite(friend.email, ['control.stop'])
    const [entry] = await world.database.db.select().from(activity)
    expect(entry).toMatchObject({
      event: 'server:subuser.create',
      serverId: server.id,
      actorId: owner.id,
      properties: { email: friend.email, permissions: ['control.stop', 'websocket.connect'] },
    })
    const subjects = await world.database.db.select().from(activitySubjects)
    expect(subjects).toMatchObject([{ subjectType: 'user', subjectId: friend.id }])
  })

  it('makes an account for an unknown address, and sends a link to choose the password', async () => {
    const { status, body } = await invite("New.Person+o'games@Example.test", [])
    expect(status).toBe(200)
    expect(body.attributes.permissions).toEqual(['websocket.connect'])
    expect(body.attributes.username).toMatch(/^new\.personogames[a-z0-9]{4}$/)
    const account = (await accounts()).at(-1)
    expect(account).toMatchObject({ email: "New.Person+o'games@Example.test", passwordHash: null })
    await world.runJobs()
    const [mail] = await world.mails()
    const link = /http\S+\/auth\/password\/reset\/([A-Za-z0-9]{43})\?email=\S+/.exec(mail?.text ?? '')
    expect(link?.[0]).toMatch(/\?email=New\.Person%2Bo'games%40Example\.test$/)
    expect(mail?.html).toContain(link?.[0].replace("'", '&#39;'))
    const [reset, ...others] = await world.database.db.select().from(passwordResets)
    expect(others).toEqual([])
    expect(reset).toMatchObject({ userId: account?.id, tokenHash: digest(link?.[1] ?? '') })
    const days = ((reset?.expiresAt.getTime() ?? 0) - world.clock.now.getTime()) / 86_400_000
    expect(days).toBe(3)
  })

  it('gives user names that can be signed in with, whatever the address looks like', async () => {
    for (const [email, pattern] of [
      ['_-.x@example.test', /^x[a-z0-9]{4}$/],
      ['+@example.test', /^user[a-z0-9]{4}$/],
      [`${'l'.repeat(64)}@example.test`, /^l{64}[a-z0-9]{4}$/],
    ] as const) {
      const { body } = await invite(email)
      expect(body.attributes.username, email).toMatch(pattern)
    }
  })

  it('is sent again when the mail did not go out, with a link of its own', async () => {
    await invite('new@example.test')
    const { mail } = world.services
    const broken = { send: () => Promise.reject(new Error('The provider is away.')) }
    Object.assign(world.panel, { mail: broken })
    await world.runJobs()
    Object.assign(world.panel, { mail })
    expect(await world.database.db.select().from(passwordResets)).toEqual([])
    world.clock.advance(60)
    await world.runJobs()
    expect(await world.mails()).toHaveLength(1)
    expect(await world.database.db.select().from(passwordResets)).toHaveLength(1)
    expect(await world.runJobs()).toBe(0)
  })

  it('is not sent to a user who was removed before', async () => {
    const { body } = await invite('new@example.test')
    expect((await world.request('DELETE', at(body.attributes.uuid), { token })).status).toBe(204)
    await world.runJobs()
    expect(await world.mails()).toEqual([])
    expect((await accounts()).map(({ email }) => email)).toContain('new@example.test')
  })

  it('cannot break out of its lines by the name of the server', async () => {
    await makeServer(world)
    const name = 'Sky\r\nBcc: all@example.test\u202e\u2028x'
    const evil = await makeServer(world, { owner, name })
    const path = `/api/client/servers/${evil.uuid}/users`
    await world.request('POST', path, { token, body: { email: 'new@example.test', permissions: [] } })
    await world.runJobs()
    const [mail] = await world.mails()
    expect(mail?.subject).not.toMatch(/[\r\n]/)
    expect(mail?.text).toContain('"Sky Bcc: all@example.test x"')
  })

  it('goes to each address once, however many are sent at the same time', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => invite('new@example.test')))
    expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([
      200,
      ...Array(9).fill(400),
    ])
    expect(await accounts()).toHaveLength(2)
    expect(await world.database.db.select().from(subusers)).toHaveLength(1)
    expect(await world.events()).toEqual(['server:subuser.create'])
  })

  it('makes one account, though two servers invite the same address at the same time', async () => {
    const others = await Promise.all(Array.from({ length: 5 }, () => makeServer(world, { owner })))
    const answers = await Promise.all(
      others.map(({ uuid }) =>
        world.request('POST', `/api/client/servers/${uuid}/users`, {
          token,
          body: { email: 'new@example.test', permissions: [] },
        }),
      ),
    )
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    const found = await world.database.db.select().from(users).where(eq(users.email, 'new@example.test'))
    expect(found).toHaveLength(1)
  })
})
