import { expect } from 'vitest'
import type { Scene } from './scene.ts'
import type { Site } from './site.ts'

/**
 * One request of every kind that must work whatever is away but the database and, for `node`, the daemon of the
 * scene's node: reads, sign-in, sessions, the Application API, reports of daemons, power, commands and files.
 */
export async function expectWholeService(site: Site, scene: Scene): Promise<void> {
  const statuses = await goRound(site, scene)
  expect(statuses).toEqual(Object.fromEntries(Object.keys(statuses).map((name) => [name, true])))
}

async function goRound(site: Site, scene: Scene): Promise<Record<string, boolean | string>> {
  const server = `/servers/${scene.server.uuid}`
  const backup = await scene.makeBackup({ isSuccessful: false, completedAt: null })
  const schedule = await scene.makeSchedule(scene.server)
  const session = await scene.signIn()
  const guest = await site.request('GET', '/auth/methods')
  const seen: [name: string, expected: number, answer: { status: number; text: string }][] = [
    ['sign-in', 200, session.answer],
    ['a session', 200, await session.ask('GET', '/api/client/account')],
    ['a page', 200, await session.ask('GET', '/')],
    ['the ways to sign in', 200, guest],
    ['texts', 200, await site.request('GET', '/locales/locale.json?locale=en&namespace=common')],
    ['a list', 200, await scene.player('GET', '')],
    ['a server', 200, await scene.player('GET', server)],
    ['the audit log', 200, await scene.player('GET', `${server}/activity`)],
    ['statistics', 200, await scene.player('GET', `${server}/resources`)],
    ['power', 204, await scene.player('POST', `${server}/power`, { signal: 'start' })],
    ['a command', 204, await scene.player('POST', `${server}/command`, { command: 'list' })],
    [
      'files',
      204,
      await scene.player('POST', `${server}/files/create-folder`, { root: '/', name: crypto.randomUUID() }),
    ],
    ['a schedule', 202, await scene.player('POST', `${server}/schedules/${schedule.id}/execute`)],
    ['renaming', 204, await scene.player('POST', `${server}/settings/rename`, { name: 'Renamed' })],
    ['the Application API', 200, await scene.administrator('GET', '/servers')],
    [
      'a change there',
      201,
      await scene.administrator('POST', '/locations', { short: crypto.randomUUID().slice(0, 30) }),
    ],
    [
      'an installation',
      204,
      await scene.remote('POST', `${server}/install`, { successful: true, reinstall: false }),
    ],
    ['configurations', 200, await scene.remote('GET', '/servers')],
    [
      'activity',
      200,
      await scene.remote('POST', '/activity', {
        data: [
          {
            user: scene.owner.uuid,
            server: scene.server.uuid,
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
      await scene.remote('POST', `/backups/${backup.uuid}`, {
        checksum: 'abc',
        checksum_type: 'sha1',
        size: 4096,
        successful: true,
        parts: null,
      }),
    ],
    ['signing out', 204, await session.ask('POST', '/auth/logout')],
    ['signed out', 401, await session.ask('GET', '/api/client/account')],
    ['the tick', 200, await site.tick()],
  ]
  return Object.fromEntries(
    seen.map(([name, expected, { status, text }]) => [name, status === expected || `${status} ${text}`]),
  )
}
