import { describe, expect, it } from 'vitest'
import { listMountedRoutes } from '../../src/cli/api-info.ts'
import { findMetadata } from '../../src/http/metadata.ts'
import { pageHeaders } from '../support/browser.ts'
import { useWorld } from '../support/world.ts'
import { createFixtures, pathOf } from './fixtures.ts'

const world = useWorld()

/** What reading changes beside the last use of the session, and why. */
const exceptions: Record<string, string[]> = {
  // The wire has it so; nothing is on before a code was shown.
  '/api/client/account/two-factor': ['users'],
  // What is downloaded is recorded.
  '/api/client/servers/:server/files/download': ['activity'],
  '/api/client/servers/:server/backups/:backup/download': ['activity', 'activity_subjects'],
  // Notices are told once.
  '/account/security': ['sessions'],
  // Attempts, which belong to the browser that makes them and change nothing else.
  '/auth/oauth/:provider': ['sessions'],
  '/auth/oauth/:provider/callback': ['sessions'],
}

const credentials = ['browser session', 'client key or session']
const gets = listMountedRoutes().filter(
  (row) => row.method === 'GET' && credentials.includes(findMetadata(row, 'credential')?.name ?? ''),
)

/** Tables that a statement writes to. */
const written = (statement: string) =>
  [...statement.matchAll(/\b(?:insert into|update|delete from) (?:"\w+"\.)?"(\w+)"/gi)].map(
    ([, table]) => table,
  )

describe('AU-7: a GET under a session', () => {
  it.each(gets.map((row) => [row.path, row] as const))('%s changes nothing', async (path, row) => {
    const fixtures = await createFixtures(world)
    const isForGuests = findMetadata(row, 'permission')?.name === 'guest'
    const isForAdministrators = findMetadata(row, 'permission')?.name === 'signed in, administrator'
    const token = isForAdministrators ? fixtures.administratorsToken : fixtures.sessionToken
    const headers = pageHeaders(world, isForGuests ? fixtures.guestToken : token)
    world.database.statements.length = 0
    await world.request('GET', `${pathOf(row, fixtures)}?file=a&servers=${fixtures.server.uuid}`, { headers })
    // The first one finds the session, and notes its use.
    const tables = world.database.statements.slice(1).flatMap(written)
    expect(tables.filter((table) => !exceptions[path]?.includes(table ?? ''))).toEqual([])
  })
})
