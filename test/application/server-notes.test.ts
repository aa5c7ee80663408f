import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { activity, serverNotes, servers } from '../../src/db/schema.ts'
import { makeApplicationToken, makeClientToken, makeServer, makeUser } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
let token: string
let owner: Awaited<ReturnType<typeof makeUser>>
let server: Awaited<ReturnType<typeof makeServer>>

beforeEach(async () => {
  token = await makeApplicationToken(world)
  owner = await makeUser(world)
  server = await makeServer(world, { owner })
})

const path = (id = server.id) => `/api/application/servers/${id}/notes`
const show = (id = server.id) => world.request('GET', path(id), { token })
const put = (notes: unknown, options = { token }) =>
  world.request('PUT', path(), { ...options, body: { notes } })

describe('the notes about a server', () => {
  it('are empty until an administrator writes some, and are replaced as a whole', async () => {
    expect((await show()).body).toEqual({
      object: 'server_notes',
      attributes: { server_id: server.id, notes: '', updated_at: null },
    })
    const { status, body } = await put('Pays by invoice.\nAsk before moving.')
    expect(status).toBe(200)
    expect(body.attributes).toMatchObject({ notes: 'Pays by invoice.\nAsk before moving.' })
    expect((await show()).body).toEqual(body)
    await put('')
    expect((await show()).body.attributes.notes).toBe('')
  })

  it('are audited without their text, and only when they change', async () => {
    await put('secret remark')
    await put('secret remark')
    const entries = await world.database.db.select().from(activity)
    expect(entries.map(({ event, properties }) => [event, properties])).toEqual([
      ['admin:server.notes', { name: server.name }],
    ])
  })

  it('are in no other answer about the server, nor anything of its owner', async () => {
    await put('secret remark')
    const clientToken = await makeClientToken(world, owner)
    const others = await Promise.all([
      world.request('GET', `/api/application/servers/${server.id}`, { token }),
      world.request('GET', `/api/client/servers/${server.uuid}`, { token: clientToken }),
      world.request('GET', `/api/client/servers/${server.uuid}/activity`, { token: clientToken }),
    ])
    for (const { status, text } of others) {
      expect(status).toBe(200)
      expect(text).not.toContain('secret remark')
      expect(text).not.toContain('server.notes')
    }
  })

  it('need levels on servers', async () => {
    const reader = await makeApplicationToken(world, { servers: 1 })
    const other = await makeApplicationToken(world, { nodes: 3 })
    expect((await world.request('GET', path(), { token: reader })).status).toBe(200)
    expect((await put('x', { token: reader })).status).toBe(403)
    expect((await world.request('GET', path(), { token: other })).status).toBe(403)
  })

  it('refuse an unknown server, and what is no text or too long', async () => {
    expect((await show(999_999)).status).toBe(404)
    expect((await world.request('PUT', path(999_999), { token, body: { notes: 'x' } })).status).toBe(404)
    for (const notes of [undefined, 1, ['x'], 'x'.repeat(65_536)]) {
      expect((await put(notes)).status).toBe(422)
    }
  })

  it('are deleted with it', async () => {
    await put('x')
    await world.database.db.delete(servers).where(eq(servers.id, server.id))
    expect(await world.database.db.select().from(serverNotes)).toEqual([])
  })
})
