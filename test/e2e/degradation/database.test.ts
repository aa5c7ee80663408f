import { sql } from 'drizzle-orm'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Answer } from '../../support/answers.ts'
import { findPostgres } from '../../support/cloud-services.ts'
import { failures } from '../../support/line.ts'
import { expectWholeService } from './round.ts'
import { away503, openScene, refusalOf, type Scene } from './scene.ts'
import { useSite } from './site.ts'

const hasPostgres = await findPostgres('a panel without its database')

type Browser = Awaited<ReturnType<Scene['signIn']>>

describe.skipIf(!hasPostgres).each(['postgres', 'neon'] as const)('over %s, a database that', (driver) => {
  const site = useSite({ driver, poolSize: 4 })
  let scene: Scene
  let at: string
  beforeEach(async () => {
    scene = await openScene(site)
    at = `/servers/${scene.server.uuid}`
    site.daemon.calls.length = 0
  })

  const line = () => site.lines[driver === 'neon' ? 'neon' : 'database']
  const texts = () => site.request('GET', '/locales/locale.json?locale=en&namespace=common')
  const file = () => site.request('GET', '/openapi.json')
  const message = { event: 'server:sftp.write', metadata: {}, ip: '192.0.2.9' }
  const install = () => scene.remote('POST', `${at}/install`, { successful: true, reinstall: false })

  /** A call of every kind, and what becomes of each. */
  async function everything(
    backup: { uuid: string },
    browsers: { signedIn: Browser; guest: Browser },
  ): Promise<Record<string, Answer>> {
    const report = { checksum: '', checksum_type: '', size: 0, successful: false, parts: null }
    const activity = {
      ...message,
      user: scene.owner.uuid,
      server: scene.server.uuid,
      timestamp: new Date().toISOString(),
    }
    const login = { user: scene.owner.username, password: 'horse' }
    const sftp = { type: 'password', username: `a.${scene.server.uuidShort}`, password: 'x', ip: '192.0.2.9' }
    const calls = {
      list: scene.player('GET', ''),
      power: scene.player('POST', `${at}/power`, { signal: 'start' }),
      files: scene.player('GET', `${at}/files/list?directory=/`),
      backup: scene.player('POST', `${at}/backups`, {}),
      rename: scene.player('POST', `${at}/settings/rename`, { name: 'Half' }),
      application: scene.administrator('POST', '/locations', { short: 'half' }),
      deletion: scene.administrator('DELETE', `/servers/${scene.server.id}/force`),
      page: browsers.signedIn.ask('GET', '/'),
      session: browsers.signedIn.ask('GET', '/api/client/account'),
      login: browsers.guest.ask('POST', '/auth/login', login),
      servers: scene.remote('GET', '/servers'),
      install: install(),
      activity: scene.remote('POST', '/activity', { data: [activity] }),
      report: scene.remote('POST', `/backups/${backup.uuid}`, report),
      sftp: scene.remote('POST', '/sftp/auth', sftp),
    }
    const entries = Object.entries(calls).map(async ([name, call]) => [name, await call] as const)
    return Object.fromEntries(await Promise.all(entries))
  }

  it.each(failures)(
    'is %s refuses everything that needs it, changes nothing, and is found again',
    { timeout: 90_000 },
    async (how, fail) => {
      const backup = await scene.makeBackup({ isSuccessful: false, completedAt: null })
      const [textsBefore, fileBefore] = [await texts(), await file()]
      const browsers = { signedIn: await scene.signIn(), guest: await scene.signIn() }
      await browsers.guest.ask('POST', '/auth/logout')
      const before = await site.rows()
      await fail(line())
      const [answers, health] = await Promise.all([everything(backup, browsers), site.health()])
      expect(
        Object.fromEntries(Object.entries(answers).map(([name, answer]) => [name, refusalOf(answer)])),
      ).toEqual(Object.fromEntries(Object.keys(answers).map((name) => [name, away503])))
      expect(health).toMatchObject({
        status: 503,
        body: {
          status: 'down',
          parts: { database: 'failed', migrations: 'unknown', cache: 'ok', queue: 'ok' },
        },
      })
      for (const [now, then] of [
        [await texts(), textsBefore],
        [await file(), fileBefore],
      ] as const) {
        expect([now.status, now.text]).toEqual([then.status, then.text])
      }
      // Each part of a tick waits for itself.
      if (how === 'stopped') expect(refusalOf(await site.tick())).toEqual(away503)
      expect(textsBefore.status).toBe(200)
      expect(await site.rows()).toEqual(before)
      expect(site.daemon.calls).toEqual([])

      await line().mend()
      await expectWholeService(site, scene)
      expect((await site.health()).body.parts).toMatchObject({ database: 'ok', migrations: 'ok' })
    },
  )

  describe('dies in the middle of a transaction', () => {
    const whileDyingOn = async (table: string, work: () => Promise<void>) => {
      const { db } = site.services.database
      await db.execute(
        sql.raw(`create or replace function die() returns trigger language plpgsql as
        $$ begin perform pg_terminate_backend(pg_backend_pid()); perform pg_sleep(1); return new; end $$`),
      )
      await db.execute(
        sql.raw(`create trigger dies after insert or update or delete on ${table}
        for each row execute function die()`),
      )
      try {
        await work()
      } finally {
        await db.execute(sql.raw(`drop trigger dies on ${table}`))
      }
    }
    let before: unknown
    beforeEach(async () => {
      before = await site.rows()
    })
    afterEach(() => expectWholeService(site, scene))

    it('keeps nothing of a report, which the daemon sends again', async () => {
      await whileDyingOn('servers', async () => {
        expect(refusalOf(await install())).toEqual(away503)
      })
      expect(await site.rows()).toEqual(before)
      expect((await install()).status).toBe(204)
    })

    it('keeps nothing of what was to be told to a daemon, and tells it nothing', async () => {
      await whileDyingOn('jobs', async () => {
        const answers = [
          await scene.player('POST', `${at}/backups`, {}),
          await scene.administrator('DELETE', `/servers/${scene.server.id}/force`),
          await scene.administrator('POST', `/servers/${scene.server.id}/suspend`),
        ]
        expect(answers.map(refusalOf)).toEqual([away503, away503, away503])
      })
      expect(await site.rows()).toEqual(before)
      expect(site.daemon.calls).toEqual([])
    })

    it('serves the others meanwhile', async () => {
      await whileDyingOn('servers', async () => {
        const dying = Array.from({ length: 4 }, install)
        const reading = Array.from({ length: 8 }, () => scene.player('GET', '/account'))
        expect((await Promise.all(reading)).map(({ status }) => status)).toEqual(reading.map(() => 200))
        expect((await Promise.all(dying)).map(refusalOf)).toEqual(dying.map(() => away503))
      })
    })
  })
})
