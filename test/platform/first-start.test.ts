import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runLocally } from '../../src/cli/run-locally.ts'
import { eggs, nests, nodes, servers, users } from '../../src/db/schema.ts'
import { readEnv } from '../../src/platform/env.ts'
import { startNode } from '../../src/platform/node.ts'
import { type DatabaseHandle, openPostgres } from '../../src/platform/postgres.ts'
import { surfaces } from '../../src/surfaces/all.ts'
import { findPostgres } from '../support/cloud-services.ts'
import { createDatabase } from '../support/database.ts'
import { makePanelFolder, type PanelFolder } from '../support/panel-folder.ts'

const hasPostgres = await findPostgres('first starts over one database')

describe.skipIf(!hasPostgres)('over one empty database', () => {
  let folder: PanelFolder
  let created: Awaited<ReturnType<typeof createDatabase>>
  let database: DatabaseHandle

  beforeEach(async () => {
    folder = await makePanelFolder()
    created = await createDatabase()
    database = openPostgres(created.url, 1)
  })
  afterEach(async () => {
    await database?.close()
    await created?.drop()
    await folder?.remove()
  })

  /** Runs the first start in two processes. */
  const environments = () =>
    ['one', 'other'].map((name) => ({
      APP_KEYS: `k1:${Buffer.alloc(32, 7).toString('base64')}`,
      DATABASE_URL: created.url,
      DATA_DIR: join(folder.path, name),
      LOG_LEVEL: 'warn',
      PORT: '0',
    }))

  it('panels that start at once make one demo, and all of them serve', async () => {
    const silent = () => undefined
    const started = await Promise.allSettled(
      environments().map((environment) =>
        startNode(environment, surfaces, async () => null, { log: silent }),
      ),
    )
    const panels = started.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
    try {
      expect(started.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled'])
      expect(panels.filter(({ bootstrap }) => bootstrap !== null)).toHaveLength(1)
      const counts = [users, nodes, servers].map((table) => database.db.$count(table))
      expect(await Promise.all(counts)).toEqual([2, 1, 1])
    } finally {
      await Promise.all(panels.map(({ close }) => close()))
    }
  })

  it('eggs that are seeded at once are there once', async () => {
    const seed = () =>
      Promise.all(environments().map((each) => runLocally(readEnv(each), { verb: 'seed', input: null })))
    const count = async () => [await database.db.$count(nests), await database.db.$count(eggs)]
    await seed()
    const seeded = await count()
    const names = await database.db.selectDistinct({ name: nests.name }).from(nests)
    expect(seeded[0]).toBe(names.length)
    await seed()
    expect(await count()).toEqual(seeded)
  })
})
