import { describe, expect, it } from 'vitest'
import { eggs, servers, trashItems } from '../../src/db/schema.ts'
import { makeServer } from '../support/factories.ts'
import { codeOf, useTrashFixtures } from './trash-fixtures.ts'

const { world, fixtures, items, list, move, purge, restore, idOf, ...trash } = useTrashFixtures()

const conflict = [409, 'ConflictHttpException']
const missing = [404, 'NotFoundHttpException']

/** Puts a file there and moves it to the trash; gives the id of its item. */
const trashed = async (path: string) => {
  fixtures.daemon.put(path)
  const bare = path.replace(/[/@]$/, '')
  const slash = bare.lastIndexOf('/')
  expect((await move(bare.slice(0, slash) || '/', [bare.slice(slash + 1)])).status).toBe(204)
  const all = await items()
  return all.find((item) => item.path === bare && item.ready)?.id ?? ''
}

describe('restoring', () => {
  it('brings back what was moved, with the folders above it', async () => {
    const id = await trashed('/a/b/c/file.txt')
    fixtures.daemon.remove('/a')
    const { status, text } = await restore(id)
    expect([status, text]).toEqual([204, ''])
    expect(fixtures.daemon.paths()).toEqual(['/.roost-trash/', '/a/', '/a/b/', '/a/b/c/', '/a/b/c/file.txt'])
    expect(await items()).toEqual([])
    expect((await trash.log()).at(-1)).toEqual({
      event: 'server:file.trash.restore',
      properties: { path: '/a/b/c/file.txt' },
      actorId: fixtures.owner.id,
    })
    expect(codeOf(await restore(id))).toEqual(missing)
  })

  it('brings back folders with all in them, and links', async () => {
    const folder = await trashed('/world/')
    fixtures.daemon.put(`/.roost-trash/${folder}/world/level.dat`)
    const link = await trashed('/link@')
    expect((await restore(folder)).status).toBe(204)
    expect((await restore(link)).status).toBe(204)
    expect(fixtures.daemon.paths()).toEqual(['/.roost-trash/', '/link@', '/world/', '/world/level.dat'])
  })

  it('overwrites nothing', async () => {
    const id = await trashed('/a/file')
    for (const inTheWay of ['/a/file', '/a/file/', '/a/file@']) {
      for (const missingStatus of [500, 404]) {
        Object.assign(fixtures.daemon, { missingStatus })
        fixtures.daemon.put(inTheWay)
        expect(codeOf(await restore(id))).toEqual(conflict)
        expect(fixtures.daemon.paths()).toContain(inTheWay)
        expect(fixtures.daemon.paths()).toContain(`/.roost-trash/${id}/file`)
        fixtures.daemon.remove('/a/file')
      }
    }
    expect(await items()).toMatchObject([{ id, ready: true, heldUntil: null }])
    fixtures.daemon.remove('/a')
    for (const inTheWay of ['/a', '/a@']) {
      fixtures.daemon.put(inTheWay)
      expect(codeOf(await restore(id))).toEqual(conflict)
      fixtures.daemon.remove('/a')
    }
    expect(await world.events()).toEqual(['server:file.trash.move'])
    expect((await restore(id)).status).toBe(204)
  })

  it('overwrites nothing that comes in between', async () => {
    const id = await trashed('/file')
    fixtures.daemon.intercept(({ route }) => {
      if (route === 'rename') fixtures.daemon.put('/file@')
      return null
    })
    expect(codeOf(await restore(id))).toEqual(conflict)
    expect(fixtures.daemon.paths()).toContain('/file@')
    expect(await items()).toMatchObject([{ id, ready: true, heldUntil: null }])
  })

  it('needs file.delete and file.create', async () => {
    const id = await trashed('/file')
    for (const one of ['file.delete', 'file.create']) {
      expect(codeOf(await restore(id, await trash.subuser([one, 'file.read', 'file.update'])))).toEqual([
        403,
        'AccessDeniedHttpException',
      ])
    }
    expect((await restore(id, await trash.subuser(['file.delete', 'file.create']))).status).toBe(204)
  })

  it('finds nothing of other servers, and nothing that cannot be', async () => {
    const id = await trashed('/file')
    const other = await makeServer(world, { owner: fixtures.owner })
    const at = `/api/client/servers/${other.uuid}/trash`
    expect(codeOf(await world.request('POST', `${at}/${id}/restore`, { token: fixtures.token }))).toEqual(
      missing,
    )
    expect(codeOf(await world.request('DELETE', `${at}/${id}`, { token: fixtures.token }))).toEqual(missing)
    for (const unknown of [crypto.randomUUID(), 'abc', '1', '%00', "'--", `${id}x`]) {
      expect([400, 404]).toContain((await restore(unknown)).status)
      expect([400, 404]).toContain((await purge(unknown)).status)
    }
    expect(await items()).toHaveLength(1)
  })

  it('finds nothing that has expired', async () => {
    const id = await trashed('/file')
    world.clock.advance(7 * 86_400)
    expect(codeOf(await restore(id))).toEqual(missing)
    expect(codeOf(await purge(id))).toEqual(missing)
  })

  it('forgets what is not in the trash of the node any more', async () => {
    for (const lost of ['', '/file']) {
      for (const missingStatus of [500, 404]) {
        Object.assign(fixtures.daemon, { missingStatus })
        const id = await trashed('/file')
        fixtures.daemon.remove(`/.roost-trash/${id}${lost}`)
        expect(codeOf(await restore(id))).toEqual(missing)
        expect(await items()).toEqual([])
      }
    }
    const id = await trashed('/file')
    fixtures.daemon.remove('/.roost-trash')
    expect(codeOf(await restore(id))).toEqual(missing)
    expect(await items()).toEqual([])
    expect(await world.events()).not.toContain('server:file.trash.restore')
  })

  it('refuses what is on its way', async () => {
    const id = await trashed('/file')
    await world.database.db.update(trashItems).set({ ready: false })
    expect(codeOf(await restore(id))).toEqual(conflict)
    expect(codeOf(await purge(id))).toEqual(conflict)
    await world.database.db
      .update(trashItems)
      .set({ ready: true, heldUntil: new Date(world.clock.now.getTime() + 1000) })
    expect(codeOf(await restore(id))).toEqual(conflict)
    expect(codeOf(await purge(id))).toEqual(conflict)
    world.clock.advance(1)
    expect((await restore(id)).status).toBe(204)
  })

  it('leaves alone what the egg protects by now', async () => {
    const known = await trashed('/server.jar')
    const unknown = await trashed('/locked')
    await world.database.db.update(eggs).set({ fileDenylist: ['*.jar'] })
    fixtures.daemon.locked.add('locked')
    expect(codeOf(await restore(known))).toEqual([403, 'AccessDeniedHttpException'])
    expect(codeOf(await restore(unknown))).toEqual([403, 'AccessDeniedHttpException'])
    expect(await items()).toMatchObject([
      { heldUntil: null, ready: true },
      { heldUntil: null, ready: true },
    ])
    expect((await purge(known)).status).toBe(204)
  })
})

describe('at the same time', () => {
  it('one of ten restores an item', async () => {
    const id = await trashed('/file')
    const answers = await Promise.all(Array.from({ length: 10 }, () => restore(id)))
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status === 204)).toHaveLength(1)
    expect(statuses.filter((status) => ![204, 404, 409].includes(status))).toEqual([])
    expect(fixtures.daemon.calls.filter(({ path }) => path.endsWith('/rename'))).toHaveLength(2)
    expect(await world.events()).toEqual(['server:file.trash.move', 'server:file.trash.restore'])
    expect(fixtures.daemon.paths()).toEqual(['/.roost-trash/', '/file'])
  })

  it('one of ten items comes to a place', async () => {
    await contest()
  })

  it('one of ten items comes to a place without the cache as well', async () => {
    const away = () => Promise.reject(new Error('away'))
    Object.assign(world.services, {
      cache: { get: away, set: away, add: away, remove: away, hit: away, ping: away },
    })
    await contest()
  })

  const contest = async () => {
    const ids: string[] = []
    for (let at = 0; at < 10; at += 1) ids.push(await trashed('/file'))
    const unique = (await items()).map(({ id }) => id)
    expect(unique).toHaveLength(10)
    const answers = await Promise.all(unique.map((id) => restore(id)))
    expect(answers.filter(({ status }) => status === 204)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(9)
    expect(await items()).toHaveLength(9)
    for (const { id, ready, heldUntil } of await items()) {
      expect([ready, heldUntil]).toEqual([true, null])
      expect(fixtures.daemon.paths()).toContain(`/.roost-trash/${id}/file`)
    }
    expect((await world.events()).filter((event) => event.endsWith('restore'))).toHaveLength(1)
  }

  it('an item is restored or deleted, never both', async () => {
    const id = await trashed('/file')
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, at) => (at % 2 === 0 ? restore(id) : purge(id))),
    )
    expect(answers.filter(({ status }) => status === 204)).toHaveLength(1)
    const isRestored = fixtures.daemon.paths().includes('/file')
    expect((await world.events()).at(-1)).toBe(`server:file.trash.${isRestored ? 'restore' : 'delete'}`)
    expect(await items()).toEqual([])
  })

  it('a file is moved to the trash once', async () => {
    fixtures.daemon.put('/file')
    const answers = await Promise.all(Array.from({ length: 10 }, () => move('/', ['file'])))
    expect(answers.filter(({ status }) => status === 204)).toHaveLength(1)
    // A request that waits too long for the others is refused with that instead.
    expect(answers.filter(({ status }) => ![204, 404, 409].includes(status))).toEqual([])
    expect(await items()).toHaveLength(1)
    expect(await world.events()).toEqual(['server:file.trash.move'])
  })

  it('neither happens while a longer operation is going on', async () => {
    const id = await trashed('/file')
    fixtures.daemon.put('/other')
    await world.services.cache.set(`files-busy:${fixtures.server.uuid}`, 'another-request', 60)
    expect(codeOf(await move('/', ['other']))).toEqual(conflict)
    expect(codeOf(await restore(id))).toEqual(conflict)
    expect(await items()).toMatchObject([{ id, heldUntil: null }])
    expect((await purge(id)).status).toBe(204)
  })
})

describe('deleting for good', () => {
  it('removes the item from the node and from the list', async () => {
    const id = await trashed('/world/level.dat')
    await trashed('/kept')
    expect((await purge(id)).status).toBe(204)
    expect(fixtures.daemon.calls.at(-1)).toMatchObject({
      method: 'POST',
      path: `/api/servers/${fixtures.server.uuid}/files/delete`,
      body: { root: '/.roost-trash', files: [id] },
    })
    const kept = await idOf('/kept')
    expect(fixtures.daemon.paths()).toEqual([
      '/.roost-trash/',
      `/.roost-trash/${kept}/`,
      `/.roost-trash/${kept}/kept`,
      '/world/',
    ])
    expect((await list()).body.meta.total).toBe(1)
    expect((await trash.log()).at(-1)).toEqual({
      event: 'server:file.trash.delete',
      properties: { path: '/world/level.dat' },
      actorId: fixtures.owner.id,
    })
    expect(codeOf(await purge(id))).toEqual(missing)
  })

  it('needs file.delete', async () => {
    const id = await trashed('/file')
    expect((await purge(id, await trash.subuser(['file.create', 'file.read', 'file.update']))).status).toBe(
      403,
    )
    expect((await purge(id, await trash.subuser(['file.delete']))).status).toBe(204)
  })

  it('does not mind that it is not there any more', async () => {
    const stock = await trashed('/file')
    fixtures.daemon.remove('/.roost-trash')
    expect((await purge(stock)).status).toBe(204)
    const newer = await trashed('/file')
    fixtures.daemon.remove('/.roost-trash')
    fixtures.daemon.missingStatus = 404
    fixtures.daemon.intercept(({ route }) => (route === 'delete' ? { status: 404 } : null))
    expect((await purge(newer)).status).toBe(204)
    expect(await items()).toEqual([])
  })

  it('keeps the item when the node does not know the server', async () => {
    const id = await trashed('/file')
    fixtures.daemon.intercept(() => ({ status: 404, json: { error: 'no such server' } }))
    expect(codeOf(await purge(id))).toEqual([404, 'DaemonConnectionException'])
    expect(codeOf(await restore(id))).toEqual([404, 'DaemonConnectionException'])
    expect(await items()).toMatchObject([{ id, heldUntil: null }])
  })

  it('goes with the server', async () => {
    await trashed('/file')
    await world.database.db.delete(servers)
    expect(await items()).toEqual([])
  })
})
