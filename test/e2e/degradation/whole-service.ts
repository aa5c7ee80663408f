import { expect } from 'vitest'
import type { Fixtures } from './fixtures.ts'
import type { Deployment } from './deployment.ts'

/**
 * One request of every kind that must work whatever is away but the database and, for `node`, the daemon of the
 * node of the fixtures: reads, sign-in, sessions, the Application API, reports of daemons, power, commands and files.
 */
export async function expectWholeService(deployment: Deployment, fixtures: Fixtures): Promise<void> {
  const statuses = await requestEverything(deployment, fixtures)
  expect(statuses).toEqual(Object.fromEntries(Object.keys(statuses).map((name) => [name, true])))
}

async function requestEverything(
  deployment: Deployment,
  fixtures: Fixtures,
): Promise<Record<string, boolean | string>> {
  const server = `/servers/${fixtures.server.uuid}`
  const backup = await fixtures.makeBackup({ isSuccessful: false, completedAt: null })
  const schedule = await fixtures.makeSchedule(fixtures.server)
  const session = await fixtures.signIn()
  const guest = await deployment.request('GET', '/auth/methods')
  const seen: [name: string, expected: number, answer: { status: number; text: string }][] = [
    ['sign-in', 200, session.answer],
    ['a session', 200, await session.ask('GET', '/api/client/account')],
    ['a page', 200, await session.ask('GET', '/')],
    ['the ways to sign in', 200, guest],
    ['texts', 200, await deployment.request('GET', '/locales/locale.json?locale=en&namespace=common')],
    ['a list', 200, await fixtures.player('GET', '')],
    ['a server', 200, await fixtures.player('GET', server)],
    ['the audit log', 200, await fixtures.player('GET', `${server}/activity`)],
    ['statistics', 200, await fixtures.player('GET', `${server}/resources`)],
    ['power', 204, await fixtures.player('POST', `${server}/power`, { signal: 'start' })],
    ['a command', 204, await fixtures.player('POST', `${server}/command`, { command: 'list' })],
    [
      'files',
      204,
      await fixtures.player('POST', `${server}/files/create-folder`, {
        root: '/',
        name: crypto.randomUUID(),
      }),
    ],
    ['a schedule', 202, await fixtures.player('POST', `${server}/schedules/${schedule.id}/execute`)],
    ['renaming', 204, await fixtures.player('POST', `${server}/settings/rename`, { name: 'Renamed' })],
    ['the Application API', 200, await fixtures.administrator('GET', '/servers')],
    [
      'a change there',
      201,
      await fixtures.administrator('POST', '/locations', { short: crypto.randomUUID().slice(0, 30) }),
    ],
    [
      'an installation',
      204,
      await fixtures.remote('POST', `${server}/install`, { successful: true, reinstall: false }),
    ],
    ['configurations', 200, await fixtures.remote('GET', '/servers')],
    [
      'activity',
      200,
      await fixtures.remote('POST', '/activity', {
        data: [
          {
            user: fixtures.owner.uuid,
            server: fixtures.server.uuid,
            event: 'server:sftp.write',
            metadata: { files: [crypto.randomUUID()] },
            ip: '192.0.2.9',
            timestamp: new Date().toISOString(),
          },
        ],
      }),
    ],
    [
      'a backup',
      204,
      await fixtures.remote('POST', `/backups/${backup.uuid}`, {
        checksum: 'abc',
        checksum_type: 'sha1',
        size: 4096,
        successful: true,
        parts: null,
      }),
    ],
    ['signing out', 204, await session.ask('POST', '/auth/logout')],
    ['signed out', 401, await session.ask('GET', '/api/client/account')],
    ['the tick', 200, await deployment.tick()],
  ]
  return Object.fromEntries(
    seen.map(([name, expected, { status, text }]) => [name, status === expected || `${status} ${text}`]),
  )
}
