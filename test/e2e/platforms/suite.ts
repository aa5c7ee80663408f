import { afterAll, beforeAll, describe } from 'vitest'
import { findPostgres } from '../../support/cloud-services.ts'
import { hasMysql } from '../../support/mysql.ts'
import { findRedis } from '../../support/upstash.ts'
import { backupsOn } from './backups.ts'
import { browsersOn } from './browsers.ts'
import { callersOn } from './callers.ts'
import { consoleOn } from './console.ts'
import { databasesOn } from './databases.ts'
import { filesOn } from './files.ts'
import type { OpenPlatform, Platform } from './platform.ts'
import { probesOn } from './probes.ts'
import { schedulesOn } from './schedules.ts'
import { createFixtures, type Fixtures } from './fixtures.ts'
import { webOn } from './web.ts'

/** Defines the tests of a platform; `differences.ts` lists where platforms may differ. */
export async function platformSuite(name: Platform['name'], open: OpenPlatform): Promise<void> {
  const suite = `the end-to-end suite on ${name}`
  const isReady = [await findPostgres(suite), await findRedis(suite), hasMysql].every(Boolean)
  describe.skipIf(!isReady)(`the panel on ${name}`, { timeout: 60_000 }, () => {
    let fixtures: Fixtures
    const at = () => fixtures
    beforeAll(async () => {
      fixtures = await createFixtures(open)
    }, 120_000)
    afterAll(() => fixtures?.close())
    for (const theme of [
      consoleOn,
      filesOn,
      backupsOn,
      schedulesOn,
      databasesOn,
      browsersOn,
      webOn,
      callersOn,
    ]) {
      theme(at)
    }
    probesOn(at)
  })
}
