import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import {
  activity,
  apiKeys,
  identities,
  jobs,
  passkeys,
  sessions,
  sshKeys,
  users,
} from '../../src/db/schema.ts'
import type { User } from '../../src/db/tables/users.ts'
import { type Browser, openBrowser, openSignedInBrowser } from '../support/browser.ts'
import {
  known,
  makeClientToken,
  makeKey,
  makeNode,
  makeRoleHolder,
  makeServer,
  makeUser,
} from '../support/factories.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
let root: User
let asRoot: Browser
let user: User
let path: string

beforeEach(async () => {
  root = await makeUser(world, { rootAdmin: true })
  asRoot = await openSignedInBrowser(world, root)
  user = await makeUser(world, known)
  path = `/api/application/users/${user.id}`
})

const userId = () => user.id
const makeCredentials = async () => {
  const { db } = world.database
  await db
    .insert(passkeys)
    .values({ userId: userId(), name: 'Laptop', credentialId: 'AAAA', publicKey: 'PK' })
  await db.insert(identities).values({
    userId: userId(),
    provider: 'oidc',
    issuer: 'https://a.test',
    subject: '1',
    displayName: 'mara',
  })
  await db
    .insert(sshKeys)
    .values({ userId: userId(), name: 'Key', fingerprint: 'f'.repeat(43), publicKey: 'PEM' })
  const { row } = await makeKey(world, user, { type: 'account', description: 'bot' })
  await db.update(users).set({ apiKeyCount: 1 }).where(eq(users.id, userId()))
  return row
}
const events = async () =>
  (await world.database.db.select().from(activity).orderBy(activity.id)).map(
    ({ event, actorId, userId: about }) => [event, actorId, about],
  )

describe('the credentials of a user', () => {
  it('are listed in two statements, without secrets', async () => {
    const key = await makeCredentials()
    await makeKey(world, root, { type: 'account' })
    const shown: Record<string, object> = {
      'api-keys': { identifier: key.identifier, description: 'bot' },
      'ssh-keys': { id: 1, name: 'Key', fingerprint: 'f'.repeat(43) },
      passkeys: { id: 1, name: 'Laptop', last_used_at: null },
      identities: { id: 1, provider: 'oidc', display_name: 'mara' },
    }
    for (const [name, attributes] of Object.entries(shown)) {
      let answer: any
      const statements = await world.countStatements(async () => {
        answer = await asRoot.request('GET', `${path}/${name}`)
      })
      expect(statements, name).toBe(2)
      expect(answer.body, name).toMatchObject({ object: 'list', data: [{ attributes }] })
      for (const secret of [key.secretHash, 'PEM', '"PK"']) expect(answer.text).not.toContain(secret)
      expect((await asRoot.request('GET', `/api/application/users/99/${name}`)).status, name).toBe(404)
    }
  })

  it('are deleted one by one, and recorded with the administrator as actor', async () => {
    const { identifier } = await makeCredentials()
    const items = [`api-keys/${identifier}`, 'ssh-keys/1', 'passkeys/1', 'identities/1']
    const other = await makeUser(world)
    for (const item of items) {
      expect((await asRoot.request('DELETE', `/api/application/users/${other.id}/${item}`)).status).toBe(404)
      expect((await asRoot.request('DELETE', `${path}/${item}`)).status, item).toBe(204)
      expect((await asRoot.request('DELETE', `${path}/${item}`)).status, item).toBe(404)
    }
    expect(await events()).toEqual(
      ['user:api-key.delete', 'user:ssh-key.delete', 'user:passkey.delete', 'user:identity.delete'].map(
        (event) => [event, root.id, user.id],
      ),
    )
    const [row] = await world.database.db.select().from(users).where(eq(users.id, user.id))
    expect(row?.apiKeyCount).toBe(0)
    for (const table of [passkeys, identities, sshKeys, apiKeys])
      expect(await world.database.db.select().from(table)).toEqual([])
  })

  it('are sessions that end at once, one or all of them', async () => {
    const browsers = [await openSignedInBrowser(world, user), await openSignedInBrowser(world, user)]
    const signedIn = async () => {
      const answers = await Promise.all(browsers.map((each) => each.request('GET', '/api/client/account')))
      return answers.map(({ status }) => status)
    }
    const { body } = await asRoot.request('GET', `${path}/sessions`)
    expect(body.data.map(({ attributes }: any) => attributes)).toMatchObject([
      { user_agent: 'Test browser', ip: '192.0.2.1' },
      { user_agent: 'Test browser', ip: '192.0.2.1' },
    ])
    const { id } = body.data[0].attributes
    expect((await asRoot.request('DELETE', `${path}/sessions/${id}`)).status).toBe(204)
    expect((await asRoot.request('DELETE', `${path}/sessions/${id}`)).status).toBe(404)
    expect((await signedIn()).toSorted((one, other) => one - other)).toEqual([200, 401])
    expect((await asRoot.request('DELETE', `${path}/sessions`)).status).toBe(204)
    expect(await signedIn()).toEqual([401, 401])
    expect((await asRoot.request('GET', `${path}/sessions`)).body.data).toEqual([])
    expect(await events()).toEqual([
      ['user:session.delete', root.id, user.id],
      ['user:session.delete', root.id, user.id],
    ])
    expect((await asRoot.request('GET', path)).status).toBe(200)
  })

  it('AZ-12: stay as they are for an administrator below the user', async () => {
    const holder = await makeRoleHolder(world, { users: 3, administrators: 3 })
    const browser = await openSignedInBrowser(world, holder)
    const above = await makeRoleHolder(world, { nodes: 1 })
    for (const target of [root, above]) {
      const address = `/api/application/users/${target.id}`
      for (const item of [
        'sessions',
        `sessions/${'0'.repeat(32)}`,
        'ssh-keys/1',
        'passkeys/1',
        'identities/1',
      ])
        expect((await browser.request('DELETE', `${address}/${item}`)).status, item).toBe(403)
      for (const action of ['suspend', 'unsuspend'])
        expect((await browser.request('POST', `${address}/${action}`)).status, action).toBe(403)
    }
    expect((await world.database.db.select().from(sessions)).length).toBe(2)
  })
})

describe('a suspended sign-in', () => {
  const suspend = () => asRoot.request('POST', `${path}/suspend`)
  const signIn = async () => {
    const guest = await openBrowser(world)
    return guest.request('POST', '/auth/login', { user: user.username, password: known.password })
  }

  it('ends sessions, and refuses passwords and keys until it is allowed again', async () => {
    const token = await makeClientToken(world, user)
    const browser = await openSignedInBrowser(world, user)
    await makeServer(world, { ownerId: user.id })
    expect((await suspend()).status).toBe(204)
    const shown = await asRoot.request('GET', path)
    expect(shown.body.meta.sign_in_suspended_at).toMatch(/^\d{4}-/)
    expect((await browser.request('GET', '/api/client/account')).status).toBe(401)
    expect((await world.request('GET', '/api/client', { token })).status).toBe(403)
    expect((await signIn()).status).toBe(403)
    const queued = await world.database.db.select().from(jobs)
    expect(queued.map(({ name }) => name)).toContain('revoke-daemon-access')
    expect((await suspend()).status).toBe(204)
    expect((await asRoot.request('POST', `${path}/unsuspend`)).status).toBe(204)
    expect((await asRoot.request('POST', `${path}/unsuspend`)).status).toBe(204)
    expect((await signIn()).status).toBe(200)
    expect((await world.request('GET', '/api/client', { token })).status).toBe(200)
    const recorded = (await events()).map(([event]) => event)
    expect(recorded).toEqual(['admin:user.suspend', 'admin:user.unsuspend', 'auth:success'])
  })

  it('tells a wrong password nothing', async () => {
    await suspend()
    const guest = await openBrowser(world)
    const wrong = { user: user.username, password: 'another' }
    expect((await guest.request('POST', '/auth/login', wrong)).status).toBe(400)
  })

  it('refuses SFTP as a wrong password does', async () => {
    const node = await makeNode(world)
    const { uuid } = await makeServer(world, { ownerId: user.id, nodeId: node.id })
    const logIn = () =>
      world.request('POST', '/api/remote/sftp/auth', {
        token: node.token,
        body: { username: `${user.username}.${uuid.slice(0, 8)}`, password: known.password, ip: '192.0.2.7' },
      })
    expect((await logIn()).status).toBe(200)
    await suspend()
    expect((await logIn()).status).toBe(403)
  })

  it('is not for the caller, nor for the last root administrator', async () => {
    expect((await asRoot.request('POST', `/api/application/users/${root.id}/suspend`)).status).toBe(400)
    const other = await makeUser(world, { rootAdmin: true })
    const asOther = await openSignedInBrowser(world, other)
    expect((await asOther.request('POST', `/api/application/users/${root.id}/suspend`)).status).toBe(204)
    const fields = { email: other.email, username: other.username, first_name: 'A', last_name: 'B' }
    const answer = await asOther.request('PATCH', `/api/application/users/${other.id}`, {
      ...fields,
      root_admin: false,
    })
    expect(answer.status).toBe(400)
  })
})
