import { describe, expect, it } from 'vitest'
import { trashItems } from '../../src/db/schema.ts'
import { makeServer } from '../support/factories.ts'
import { codeOf, useTrashFixtures } from './trash-fixtures.ts'

const { world, fixtures, items, list, move, purge, restore, send, idOf, ...trash } = useTrashFixtures()

const day = 86_400

describe('the list', () => {
  const fill = async (count: number, serverId = fixtures.server.id) => {
    const now = world.clock.now.getTime()
    await world.database.db.insert(trashItems).values(
      Array.from({ length: count }, (_, at) => ({
        serverId,
        name: `f${at}`,
        path: `/f${at}`,
        isFile: true,
        ready: at % 2 === 0,
        deletedAt: new Date(now - at * 1000),
        expiresAt: new Date(now + day * 1000),
      })),
    )
  }

  it('has 25 a page, newest first, of this server alone', async () => {
    await fill(60)
    await fill(3, (await makeServer(world)).id)
    const names = async (query: string) => {
      const { body } = await list(query)
      return { names: body.data.map(({ name }: { name: string }) => name), meta: body.meta }
    }
    const of = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => `f${from + at}`)
    expect(await names('')).toEqual({ names: of(0, 25), meta: { current_page: 1, last_page: 3, total: 60 } })
    expect(await names('?page=2')).toEqual({
      names: of(25, 50),
      meta: { current_page: 2, last_page: 3, total: 60 },
    })
    expect(await names('?page=3&per_page=100')).toMatchObject({ names: of(50, 60) })
    expect(await names('?page=100000')).toEqual({
      names: [],
      meta: { current_page: 100_000, last_page: 3, total: 60 },
    })
    expect((await list('?page=2')).body.data[0].ready).toBe(false)
  })

  it('is empty at first, and costs two statements', async () => {
    const statements = await world.countStatements(async () => {
      expect((await list()).body).toEqual({ data: [], meta: { current_page: 1, last_page: 1, total: 0 } })
    })
    expect(statements).toBe(2)
  })

  it('takes pages from 1 to 100000', async () => {
    for (const page of ['0', '-1', '100001', '1.5', 'abc', '1e9', '99999999999999999999']) {
      const { status, body } = await list(`?page=${page}`)
      expect([status, body.errors[0].meta.source_field], page).toEqual([422, 'page'])
    }
    expect((await list('?page=')).status).toBe(200)
  })

  it('needs file.read, and leaves out what has expired', async () => {
    await fill(2)
    const { body } = await list('', await trash.subuser(['file.read']))
    expect(body.data).toHaveLength(2)
    expect((await list('', await trash.subuser(['file.delete', 'file.create']))).status).toBe(403)
    world.clock.advance(day)
    expect((await list()).body).toMatchObject({ data: [], meta: { total: 0 } })
  })
})

describe('the feature', () => {
  it('refuses everything to every caller while it is off', async () => {
    fixtures.daemon.put('/a', '/b')
    await move('/', ['a'])
    const id = await idOf('/a')
    fixtures.daemon.calls.length = 0
    await trash.set('features.file_trash', false)
    for (const token of [fixtures.token, await trash.administrator()]) {
      for (const answer of [
        await list('', token),
        await move('/', ['b'], token),
        await move(null, 7, token),
        await restore(id, token),
        await restore('none', token),
        await purge(id, token),
        await purge(crypto.randomUUID(), token),
      ]) {
        expect(codeOf(answer)).toEqual([403, 'AccessDeniedHttpException'])
      }
    }
    expect(fixtures.daemon.calls).toEqual([])
    expect(await items()).toHaveLength(1)
    expect(
      (
        await world.request('GET', `/api/client/servers/${crypto.randomUUID()}/trash`, {
          token: fixtures.token,
        })
      ).status,
    ).toBe(404)
    expect((await world.request('GET', `/api/client/servers/${fixtures.server.uuid}/trash`)).status).toBe(401)
    await trash.set('features.file_trash', true)
    expect((await list()).body.meta.total).toBe(1)
    expect((await restore(id)).status).toBe(204)
  })

  it('keeps files as long as it is set when they are moved', async () => {
    fixtures.daemon.put('/a', '/b', '/c')
    const due: Record<string, number> = { '/a': 7, '/b': 365, '/c': 1 }
    for (const [path, days] of Object.entries(due)) {
      await trash.set('trash.retention_days', days)
      await move('/', [path.slice(1)])
    }
    for (const { path, expiresAt, deletedAt } of await items()) {
      expect(deletedAt).toEqual(world.clock.now)
      expect((expiresAt.getTime() - deletedAt.getTime()) / 1000 / day, path).toBe(due[path])
    }
  })
})

describe('the state of the server', () => {
  it('refuses every caller', async () => {
    const tokens = [
      fixtures.token,
      await trash.subuser(['file.read', 'file.create', 'file.delete']),
      await trash.administrator(),
    ]
    const id = crypto.randomUUID()
    const refusedToAll = async () => {
      for (const token of tokens) {
        for (const answer of [
          await list('', token),
          await move('/', ['a'], token),
          await restore(id, token),
          await purge(id, token),
        ]) {
          expect(codeOf(answer)).toEqual([409, 'ServerStateConflictException'])
        }
      }
    }
    for (const status of ['suspended', 'installing', 'install_failed', 'restoring_backup'] as const) {
      await trash.setStatus(status)
      await refusedToAll()
    }
    await trash.setStatus('reinstall_failed')
    expect((await list()).status).toBe(200)
    await trash.setMaintenance(true)
    await refusedToAll()
    await trash.setMaintenance(false)
    await trash.beginTransfer()
    await refusedToAll()
    expect(fixtures.daemon.calls).toEqual([])
  })

  it('is asked before permissions and input', async () => {
    await trash.setStatus('suspended')
    expect((await send('POST', '', [], await trash.subuser([]))).status).toBe(409)
  })
})
