import { beforeEach, describe, expect, it } from 'vitest'
import { subusers } from '../../src/db/schema.ts'
import type { User } from '../../src/db/tables/users.ts'
import { changeSettings } from '../../src/domain/settings/settings.ts'
import { openBrowser } from '../support/browser.ts'
import {
  changeOf,
  known,
  makeApplicationToken,
  makeClientToken,
  makeNode,
  makeServer,
  makeUser,
} from '../support/factories.ts'
import { emailTokens, resetTokens } from '../support/mailed-links.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
const email = 'friend@example.test'
const permissions = ['file.read', 'file.sftp', 'websocket.connect']
let server: Awaited<ReturnType<typeof makeServer>>
let node: Awaited<ReturnType<typeof makeNode>>
let token: string

beforeEach(async () => {
  node = await makeNode(world)
  const owner = await makeUser(world)
  server = await makeServer(world, { owner, node })
  token = await makeClientToken(world, owner)
})

const at = (user = '') => `/api/client/servers/${server.uuid}/users${user && `/${user}`}`
const invite = (address = email) =>
  world.request('POST', at(), { token, body: { email: address, permissions } })
const claimer = () =>
  makeUser(world, { email, emailVerifiedAt: null, passwordHash: known.passwordHash, username: 'claimer' })
const listed = async () =>
  (await world.request('GET', at(), { token })).body.data.map(({ attributes }: any) => [
    attributes.email,
    attributes.pending,
  ])

/** Tries every way to the server that a subuser has. */
async function accessOf(user: User): Promise<unknown> {
  const as = await makeClientToken(world, user)
  const shown = await world.request('GET', `/api/client/servers/${server.uuid}`, { token: as })
  const list = await world.request('GET', '/api/client', { token: as })
  const sftp = await world.request('POST', '/api/remote/sftp/auth', {
    token: node.token,
    body: {
      type: 'password',
      username: `${user.username}.${server.uuidShort}`,
      password: known.password,
      ip: '198.51.100.9:1234',
    },
  })
  const browser = await openBrowser(world)
  const name = { user: user.username, password: known.password }
  await browser.request('POST', '/auth/login', name)
  const session = await browser.request('GET', `/api/client/servers/${server.uuid}`)
  return [shown.status, list.body.data.length, sftp.status, session.status]
}
const none = [404, 0, 403, 404]
const all = [200, 1, 200, 200]

describe.each(['on', 'off'])(
  'an invitation of an unverified address, with verify_email %s',
  (verify_email) => {
    beforeEach(() => changeSettings(world.panel, { sign_in: { verify_email } }))

    it('AU-16: is stored as pending, without access, and shown so', async () => {
      const user = await claimer()
      const { status, body } = await invite('FRIEND@example.test')
      expect([status, body.attributes]).toMatchObject([200, { uuid: user.uuid, pending: true, permissions }])
      expect(await accessOf(user)).toEqual(none)
      expect(await listed()).toEqual([[email, true]])
      const shown = await world.request('GET', at(user.uuid), { token })
      expect(shown.body.attributes.pending).toBe(true)
      expect((await invite()).body.errors[0].code).toBe('ServerSubuserExistsException')
      const changed = await world.request('POST', at(user.uuid), { token, body: { permissions: [] } })
      expect(changed.body.attributes).toMatchObject({ pending: true, permissions: ['websocket.connect'] })
      expect(await accessOf(user)).toEqual(none)
      expect((await world.request('DELETE', at(user.uuid), { token })).status).toBe(204)
      expect(await listed()).toEqual([])
    })

    it('gives access once the link of its account is followed', async () => {
      const user = await claimer()
      const as = await makeClientToken(world, user)
      await invite()
      expect((await world.request('POST', '/api/client/account/email/resend', { token: as })).status).toBe(
        204,
      )
      const [link] = await emailTokens(world, email)
      const verify = { token: as, body: { token: link } }
      expect((await world.request('POST', '/api/client/account/email/verify', verify)).status).toBe(204)
      expect(await accessOf(user)).toEqual(all)
      expect(await listed()).toEqual([[email, undefined]])
    })

    it('mails a link that gives the account, and with it the access, to the holder of the address', async () => {
      await claimer()
      await invite()
      const [reset] = await resetTokens(world, email)
      expect((await world.mails())[0]?.text).toContain('claimer')
      const browser = await openBrowser(world)
      const body = { token: reset, email, password: 'my own one', password_confirmation: 'my own one' }
      expect((await browser.request('POST', '/auth/password/reset', body)).status).toBe(200)
      expect((await browser.request('GET', `/api/client/servers/${server.uuid}`)).status).toBe(200)
      const thief = { user: 'claimer', password: known.password }
      expect((await (await openBrowser(world)).request('POST', '/auth/login', thief)).status).toBe(400)
    })

    it('follows the address to the account that an administrator creates for it', async () => {
      const thief = await claimer()
      await invite()
      const admin = await makeApplicationToken(world)
      const fields = {
        username: 'friend',
        email,
        first_name: 'F',
        last_name: 'R',
        password: known.password.repeat(2),
      }
      const { body } = await world.request('POST', '/api/application/users', { token: admin, body: fields })
      expect(await accessOf(thief)).toEqual(none)
      expect(await listed()).toEqual([[email, undefined]])
      const as = await makeClientToken(world, { id: body.attributes.id })
      expect((await world.request('GET', `/api/client/servers/${server.uuid}`, { token: as })).status).toBe(
        200,
      )
    })

    it('ends when the account gives the address up, so that another address does not accept it', async () => {
      const thief = await claimer()
      await invite()
      const as = await makeClientToken(world, thief)
      const change = { email: 'thief@example.test', password: known.password }
      await world.request('PUT', '/api/client/account/email', { token: as, body: change })
      if (verify_email === 'off')
        await world.request('POST', '/api/client/account/email/resend', { token: as })
      const [link] = await emailTokens(world, 'thief@example.test')
      const verify = { token: as, body: { token: link } }
      expect((await world.request('POST', '/api/client/account/email/verify', verify)).status).toBe(204)
      expect(await accessOf(thief)).toEqual(none)
      expect(await listed()).toEqual([])
      expect(await world.events()).toContain('server:subuser.delete')
    })

    it('is not accepted twice where the new holder has access already', async () => {
      await claimer()
      await invite()
      const friend = await makeUser(world, { email: 'second@example.test' })
      await invite('second@example.test')
      const admin = await makeApplicationToken(world)
      const path = `/api/application/users/${friend.id}`
      expect(
        (await world.request('PATCH', path, { token: admin, body: changeOf(friend, { email }) })).status,
      ).toBe(200)
      expect(await listed()).toEqual([[email, undefined]])
      expect(await world.database.db.select().from(subusers)).toMatchObject([
        { userId: friend.id, pending: false },
      ])
    })
  },
)
