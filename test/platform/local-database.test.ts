import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openPglite, prepareSnapshot } from '../../src/platform/local/pglite.ts'

/** One of the files of every database. */
const someFile = join('global', 'pg_control')

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'roost-database-'))
  await prepareSnapshot()
})
afterEach(() => rm(directory, { recursive: true, force: true }))

it('has one connection, of which the state is counted', async () => {
  const { db, transaction, poolState, close } = await openPglite(null)
  const idle = { open: 1, idle: 1, limit: 1, waiting: 0 }
  expect(poolState?.()).toEqual(idle)
  const end = Promise.withResolvers<void>()
  const held = transaction(async (inner) => {
    await inner.execute('select 1')
    await end.promise
  })
  expect(poolState?.()).toEqual({ open: 1, idle: 0, limit: 1, waiting: 0 })
  const others = Promise.allSettled([db.execute('select 1'), db.execute('select from nothing')])
  await expect.poll(() => poolState?.()).toEqual({ open: 1, idle: 0, limit: 1, waiting: 2 })
  end.resolve()
  await Promise.all([held, others])
  expect(poolState?.()).toEqual(idle)
  await close()
})

it('after an unpacking that failed half way the next start makes the database', async () => {
  const obstacle = join(directory, someFile, 'folder')
  await mkdir(obstacle, { recursive: true })
  await expect(openPglite(directory)).rejects.toThrow(/cannot be opened: .*not empty/)

  await rm(dirname(obstacle), { recursive: true })
  await writeFile(join(directory, someFile), 'half of a file')
  const { db, close } = await openPglite(directory)
  const { rows } = (await db.execute('select count(*)::int as count from users')) as unknown as {
    rows: { count: number }[]
  }
  await close()
  expect(rows).toEqual([{ count: 0 }])
})
