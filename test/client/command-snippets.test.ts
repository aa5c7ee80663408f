import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { commandSnippets, eggs } from '../../src/db/schema.ts'
import {
  makeApplicationToken,
  makeClientToken,
  makeServer,
  makeSubuser,
  makeUser,
} from '../support/factories.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
let owner: Awaited<ReturnType<typeof makeUser>>
let server: Awaited<ReturnType<typeof makeServer>>
let token: string

beforeEach(async () => {
  owner = await makeUser(world)
  server = await makeServer(world, { owner })
  token = await makeClientToken(world, owner)
})

const path = (uuid = server.uuid) => `/api/client/servers/${uuid}/console/snippets`
const list = async (as = token, uuid = server.uuid) => {
  const { status, body } = await world.request('GET', path(uuid), { token: as })
  return status === 200 ? body.data.map(({ attributes: { name, source } }: any) => [name, source]) : [status]
}
const add = (json: object, as = token) => world.request('POST', path(), { token: as, body: json })

describe('command snippets', () => {
  it('are those of the egg, of the server and of the account', async () => {
    await world.database.db
      .update(eggs)
      .set({ commandSnippets: [{ name: 'Save', command: 'save-all' }] })
      .where(eq(eggs.id, server.eggId))
    const added = await add({ name: 'Day', command: 'time set day' })
    expect(added.status).toBe(200)
    expect(added.body).toEqual({
      object: 'command_snippet',
      attributes: { id: expect.any(Number), name: 'Day', command: 'time set day', source: 'server' },
    })
    await add({ name: 'Players', command: 'list', all_servers: true })
    expect(await list()).toEqual([
      ['Save', 'egg'],
      ['Day', 'server'],
      ['Players', 'account'],
    ])
    const other = await makeServer(world, { owner })
    expect(await list(token, other.uuid)).toEqual([['Players', 'account']])
  })

  it('are seen and removed by their user alone', async () => {
    const { body } = await add({ name: 'Day', command: 'time set day' })
    const friend = await makeUser(world)
    await makeSubuser(world, server, friend, ['control.console'])
    const friendToken = await makeClientToken(world, friend)
    expect(await list(friendToken)).toEqual([])
    const remove = (as: string) => world.request('DELETE', `${path()}/${body.attributes.id}`, { token: as })
    expect((await remove(friendToken)).status).toBe(404)
    expect((await remove(token)).status).toBe(204)
    expect((await remove(token)).status).toBe(404)
  })

  it('need the permission to send commands', async () => {
    const friend = await makeUser(world)
    await makeSubuser(world, server, friend, ['file.read'])
    const friendToken = await makeClientToken(world, friend)
    expect(await list(friendToken)).toEqual([403])
    expect((await add({ name: 'a', command: 'b' }, friendToken)).status).toBe(403)
  })

  it('are one line each, and at most 200', async () => {
    expect((await add({ name: 'a', command: 'say hi\nop me' })).status).toBe(422)
    expect((await add({ name: 'a\nb', command: 'list' })).status).toBe(422)
    expect((await add({ name: '', command: 'list' })).status).toBe(422)
    await world.database.db
      .insert(commandSnippets)
      .values(Array.from({ length: 199 }, (_, at) => ({ userId: owner.id, name: `${at}`, command: 'list' })))
    const answers = await Promise.all([
      add({ name: 'a', command: 'list' }),
      add({ name: 'b', command: 'list' }),
    ])
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 400]))
  })

  it('of an egg are written by administrators', async () => {
    const [egg] = await world.database.db.select().from(eggs).where(eq(eggs.id, server.eggId))
    const application = await makeApplicationToken(world)
    const change = (json: object) =>
      world.request('PATCH', `/api/application/nests/${egg?.nestId}/eggs/${egg?.id}`, {
        token: application,
        body: json,
      })
    const changed = await change({ command_snippets: [{ name: 'Save', command: 'save-all' }] })
    expect(changed.status).toBe(200)
    expect(changed.body.attributes.command_snippets).toEqual([{ name: 'Save', command: 'save-all' }])
    expect(await list()).toEqual([['Save', 'egg']])
    expect((await change({ command_snippets: [{ name: 'a', command: 'b\nc' }] })).status).toBe(422)
    expect((await change({ command_snippets: null })).body.attributes.command_snippets).toEqual([])
  })
})
