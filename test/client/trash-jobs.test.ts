import { eq } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { jobs, servers, trashItems } from '../../src/db/schema.ts'
import { runTick } from '../../src/domain/jobs/tick.ts'
import { codeOf, useTrashFixtures } from './trash-fixtures.ts'

const { world, fixtures, items, list, move, purge, restore, idOf, ...trash } = useTrashFixtures()

const day = 86_400
const unreachable = [504, 'DaemonConnectionException']
const later = async (seconds: number) => {
  world.clock.advance(seconds)
  await world.runJobs()
}
const inTrash = (name: string) =>
  fixtures.daemon.paths().filter((path) => path.endsWith(`/${name}`) && path.startsWith('/.roost'))

describe('a node that fails', () => {
  it('changes nothing when it is away', async () => {
    fixtures.daemon.put('/a', '/b')
    await move('/', ['a'])
    const id = await idOf('/a')
    await trash.setAway(true)
    expect(codeOf(await move('/', ['b']))).toEqual(unreachable)
    expect(codeOf(await restore(id))).toEqual(unreachable)
    expect(codeOf(await purge(id))).toEqual(unreachable)
    expect(await items()).toMatchObject([{ id, ready: true, heldUntil: null }])
    expect(await world.events()).toEqual(['server:file.trash.move'])
    await trash.setAway(false)
    expect((await purge(id)).status).toBe(204)
  })

  it('is quoted, and 502 when it does not accept the panel', async () => {
    fixtures.daemon.put('/a')
    fixtures.daemon.intercept(() => ({ status: 403 }))
    expect(codeOf(await move('/', ['a']))).toEqual([502, 'DaemonConnectionException'])
    fixtures.daemon.intercept(() => ({ json: { surprise: true } }))
    expect(codeOf(await move('/', ['a']))).toEqual([502, 'DaemonConnectionException'])
    fixtures.daemon.intercept(() => ({ status: 500 }))
    expect(codeOf(await move('/', ['a']))).toEqual([500, 'DaemonConnectionException'])
    expect(await items()).toEqual([])
  })

  it('keeps in the trash what was moved before it failed', async () => {
    const names = Array.from({ length: 12 }, (_, at) => `f${at}`)
    fixtures.daemon.put(...names.map((name) => `/${name}`))
    fixtures.daemon.intercept(({ route, body }) =>
      route === 'rename' && body.files[0].from === 'f6' ? { status: 500 } : null,
    )
    expect(codeOf(await move('/', names))).toEqual([500, 'DaemonConnectionException'])
    const moved = (await items()).map(({ name }) => name)
    expect(moved.length).toBeGreaterThan(2)
    expect(moved).not.toContain('f6')
    for (const name of names) {
      expect(inTrash(name)).toHaveLength(moved.includes(name) ? 1 : 0)
      expect(fixtures.daemon.paths().includes(`/${name}`)).toBe(!moved.includes(name))
    }
    expect((await items()).every(({ ready, heldUntil }) => ready && heldUntil === null)).toBe(true)
    const files = names.filter((name) => moved.includes(name))
    expect(await trash.log()).toEqual([
      { event: 'server:file.trash.move', properties: { directory: '/', files }, actorId: fixtures.owner.id },
    ])
  })

  it('says 404 of what is gone when its turn comes', async () => {
    fixtures.daemon.put('/a')
    fixtures.daemon.intercept(({ route }) => {
      if (route === 'rename') fixtures.daemon.remove('/a')
      return null
    })
    expect(codeOf(await move('/', ['a']))).toEqual([404, 'NotFoundHttpException'])
    expect(await items()).toEqual([])
    expect(fixtures.daemon.paths()).toEqual(['/.roost-trash/'])
    expect(await world.events()).toEqual([])
  })

  it('is believed by what it has, not by what it says', async () => {
    fixtures.daemon.put('/a')
    fixtures.daemon.intercept(({ route, body }) => {
      if (route !== 'rename') return null
      const [{ from, to }] = body.files
      fixtures.daemon.remove(`/${from}`)
      fixtures.daemon.put(`/${to}`)
      return { status: 502 }
    })
    expect((await move('/', ['a'])).status).toBe(204)
    expect((await restore(await idOf('/a'))).status).toBe(204)
    expect(fixtures.daemon.paths()).toContain('/a')
    expect(await world.events()).toEqual(['server:file.trash.move', 'server:file.trash.restore'])
    fixtures.daemon.intercept(null)
    await move('/', ['a'])
    fixtures.daemon.intercept(({ route }) => (route === 'rename' ? { status: 204 } : null))
    expect(codeOf(await restore(await idOf('/a')))).toEqual([502, 'DaemonConnectionException'])
    expect(await items()).toMatchObject([{ ready: true, heldUntil: null }])
  })

  it('times out when it is too slow for all items', async () => {
    const names = Array.from({ length: 20 }, (_, at) => `f${at}`)
    fixtures.daemon.put(...names.map((name) => `/${name}`))
    fixtures.daemon.intercept(({ route }) => {
      if (route === 'rename') world.clock.advance(2)
      return null
    })
    expect(codeOf(await move('/', names))).toEqual(unreachable)
    const moved = await items()
    expect(moved.length).toBeGreaterThan(0)
    expect(moved.length).toBeLessThan(20)
    expect(moved.every(({ ready }) => ready)).toBe(true)
    expect(fixtures.daemon.paths().filter((path) => /^\/f\d+$/.test(path))).toHaveLength(20 - moved.length)
  })
})

describe('an unfinished operation', () => {
  /** Has the node do the move, or not, without a response; then makes the node unreachable. */
  const moveInSilence = async (isDone: boolean) => {
    fixtures.daemon.put('/folder/a')
    let isSilent = false
    fixtures.daemon.intercept(({ route, body }) => {
      if (isSilent) return { drop: true }
      if (route !== 'rename') return null
      isSilent = true
      if (isDone) {
        fixtures.daemon.remove(`/${body.files[0].from}`)
        fixtures.daemon.put(`/${body.files[0].to}`)
      }
      return { drop: true }
    })
    expect(codeOf(await move('/folder', ['a']))).toEqual(unreachable)
    expect(await items()).toMatchObject([{ name: 'a', ready: false }])
    expect((await list()).body.data).toMatchObject([{ name: 'a', ready: false }])
    expect(await world.events()).toEqual([])
    fixtures.daemon.intercept(null)
  }

  it('is in the trash when the node moved it', async () => {
    await moveInSilence(true)
    expect(await world.runJobs()).toBe(0)
    expect(codeOf(await restore(await idOf('/folder/a')))).toEqual([409, 'ConflictHttpException'])
    await later(60)
    expect(await items()).toMatchObject([{ ready: true, heldUntil: null }])
    expect(await trash.log()).toEqual([
      { event: 'server:file.trash.move', properties: { directory: '/folder/', files: ['a'] }, actorId: null },
    ])
    expect((await restore(await idOf('/folder/a'))).status).toBe(204)
  })

  it('is not in the trash when it did not', async () => {
    await moveInSilence(false)
    await later(60)
    expect(await items()).toEqual([])
    expect(await world.events()).toEqual([])
    expect(fixtures.daemon.paths()).toContain('/folder/a')
  })

  it('waits until the node is back', async () => {
    await moveInSilence(true)
    await trash.setAway(true)
    await later(60)
    await later(3600)
    expect(await items()).toMatchObject([{ ready: false }])
    await trash.setAway(false)
    await later(7200)
    expect(await items()).toMatchObject([{ ready: true }])
  })

  it('of several is found out for each', async () => {
    fixtures.daemon.put('/a', '/b', '/c')
    await move('/', ['a', 'b', 'c'])
    const heldUntil = new Date(world.clock.now.getTime() + 60_000)
    await world.database.db.update(trashItems).set({ ready: false, heldUntil })
    fixtures.daemon.remove(`/.roost-trash/${await idOf('/b')}`)
    await later(60)
    expect((await items()).map(({ path, ready }) => [path, ready])).toEqual([
      ['/a', true],
      ['/c', true],
    ])
    expect((await trash.log()).at(-1)).toMatchObject({ properties: { directory: '/', files: ['a', 'c'] } })
  })

  it('of a restore is gone from the list when it is back, and free when it is not', async () => {
    for (const isDone of [true, false]) {
      fixtures.daemon.remove('/a')
      fixtures.daemon.put('/a')
      await move('/', ['a'])
      const id = await idOf('/a')
      let isSilent = false
      fixtures.daemon.intercept(({ route }) => {
        if (isSilent) return { drop: true }
        if (route !== 'rename') return null
        isSilent = true
        if (isDone) {
          fixtures.daemon.remove(`/.roost-trash/${id}/a`)
          fixtures.daemon.put('/a')
        }
        return { drop: true }
      })
      expect(codeOf(await restore(id))).toEqual(unreachable)
      fixtures.daemon.intercept(null)
      expect(codeOf(await restore(id))).toEqual([409, 'ConflictHttpException'])
      await later(119)
      expect(await items()).toHaveLength(1)
      await later(1)
      expect(await items()).toMatchObject(isDone ? [] : [{ id, ready: true, heldUntil: null }])
    }
  })

  it('is skipped where another request took it again', async () => {
    fixtures.daemon.put('/a')
    await move('/', ['a'])
    world.clock.advance(60)
    const heldUntil = new Date(world.clock.now.getTime() + 1000)
    await world.database.db.update(trashItems).set({ heldUntil })
    fixtures.daemon.remove('/.roost-trash')
    expect(await world.runJobs()).toBe(1)
    expect(await items()).toMatchObject([{ heldUntil }])
  })

  it('needs nothing once the server is gone', async () => {
    await moveInSilence(true)
    await world.database.db.delete(servers).where(eq(servers.id, fixtures.server.id))
    await later(60)
    expect(await world.database.db.select({ state: jobs.state }).from(jobs)).toEqual([{ state: 'done' }])
  })
})

describe('expiry', () => {
  const expired = async (...names: string[]) => {
    fixtures.daemon.put(...names.map((name) => `/${name}`))
    await move('/', names)
    world.clock.advance(7 * day)
  }

  it('removes what has expired, in one call, and records it as the system', async () => {
    await expired('a', 'b')
    fixtures.daemon.put('/later')
    await move('/', ['later'])
    fixtures.daemon.calls.length = 0
    await runTick(world.panel)
    expect((await items()).map(({ path }) => path)).toEqual(['/later'])
    expect(inTrash('a').concat(inTrash('b'))).toEqual([])
    expect(inTrash('later')).toHaveLength(1)
    const deletions = fixtures.daemon.calls.filter(({ path }) => path.endsWith('/delete'))
    expect(deletions.map(({ body }) => body.files.length)).toEqual([2])
    const log = (await trash.log()).filter(({ event }) => event.startsWith('server:'))
    expect(
      log.slice(2).toSorted((one, other) => JSON.stringify(one).localeCompare(JSON.stringify(other))),
    ).toEqual([
      { event: 'server:file.trash.delete', properties: { path: '/a' }, actorId: null },
      { event: 'server:file.trash.delete', properties: { path: '/b' }, actorId: null },
    ])
    await runTick(world.panel)
    expect(await items()).toHaveLength(1)
  })

  it('goes on while the feature is off and the server suspended', async () => {
    await expired('a')
    await trash.set('features.file_trash', false)
    await trash.setStatus('suspended')
    await runTick(world.panel)
    expect(await items()).toEqual([])
  })

  it('waits while the node is away, with one job for a server', async () => {
    await expired('a')
    await trash.setAway(true)
    for (let minute = 0; minute < 5; minute += 1) {
      await runTick(world.panel)
      world.clock.advance(60)
    }
    expect(await items()).toMatchObject([{ path: '/a', heldUntil: null }])
    const waiting = await world.database.db.select().from(jobs).where(eq(jobs.name, 'expire-trash'))
    expect(waiting).toMatchObject([{ state: 'waiting', key: `expire-trash:${fixtures.server.id}` }])
    await trash.setAway(false)
    world.clock.advance(3600)
    await runTick(world.panel)
    expect(await items()).toEqual([])
  })

  it('waits while the files are on their way elsewhere', async () => {
    await expired('a')
    await trash.setStatus('restoring_backup')
    await runTick(world.panel)
    expect(await items()).toHaveLength(1)
    await trash.setStatus(null)
    await trash.beginTransfer()
    world.clock.advance(3600)
    await runTick(world.panel)
    expect(await items()).toHaveLength(1)
    expect(fixtures.daemon.calls.filter(({ path }) => path.endsWith('/delete'))).toEqual([])
  })

  it('removes hundreds, a hundred a minute', async () => {
    const expiresAt = new Date(world.clock.now.getTime() - 1000)
    const row = { serverId: fixtures.server.id, name: 'f', path: '/f', isFile: true, ready: true, expiresAt }
    await world.database.db.insert(trashItems).values(Array.from({ length: 230 }, () => row))
    for (const left of [130, 30, 0]) {
      await runTick(world.panel)
      expect(await items()).toHaveLength(left)
      world.clock.advance(60)
    }
  })

  it('skips what is restored at the same moment', async () => {
    await expired('a')
    const heldUntil = new Date(world.clock.now.getTime() + 1000)
    await world.database.db.update(trashItems).set({ heldUntil })
    await runTick(world.panel)
    expect(await items()).toMatchObject([{ heldUntil }])
    world.clock.advance(61)
    await runTick(world.panel)
    expect(await items()).toEqual([])
  })
})
