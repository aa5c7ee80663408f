import { sql } from 'drizzle-orm'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Answer } from '../../support/answers.ts'
import { findPostgres } from '../../support/cloud-services.ts'
import { failures } from '../../support/tcp-proxy.ts'
import { expectWholeService } from './whole-service.ts'
import { away503, createFixtures, refusalOf, type Fixtures } from './fixtures.ts'
import { useDeployment } from './deployment.ts'

const hasPostgres = await findPostgres('a panel without its database')

type Browser = Awaited<ReturnType<Fixtures['signIn']>>

describe.skipIf(!hasPostgres).each(['postgres', 'neon'] as const)('over %s, a database that', (driver) => {
  const deployment = useDeployment({ driver, poolSize: 4 })
  let fixtures: Fixtures
  let at: string
  beforeEach(async () => {
    fixtures = await createFixtures(deployment)
    at = `/servers/${fixtures.server.uuid}`
    deployment.daemon.calls.length = 0
  })

  const proxy = () => deployment.proxies[driver === 'neon' ? 'neon' : 'database']
  const texts = () => deployment.request('GET', '/locales/locale.json?locale=en&namespace=common')
  const file = () => deployment.request('GET', '/openapi.json')
  const message = { event: 'server:sftp.write', metadata: {}, ip: '192.0.2.9' }
  const install = () => fixtures.remote('POST', `${at}/install`, { successful: true, reinstall: false })

  /** Sends a request of every kind; returns the outcome of each. */
  async function everything(
    backup: { uuid: string },
    browsers: { signedIn: Browser; guest: Browser },
  ): Promise<Record<string, Answer>> {
    const report = { checksum: '', checksum_type: '', size: 0, successful: false, parts: null }
    const activity = {
      ...message,
      user: fixtures.owner.uuid,
      server: fixtures.server.uuid,
      timestamp: new Date().toISOString(),
    }
    const login = { user: fixtures.owner.username, password: 'horse' }
    const sftp = {
      type: 'password',
      username: `a.${fixtures.server.uuidShort}`,
      password: 'x',
      ip: '192.0.2.9',
    }
    const calls = {
      list: fixtures.player('GET', ''),
      power: fixtures.player('POST', `${at}/power`, { signal: 'start' }),
      files: fixtures.player('GET', `${at}/files/list?directory=/`),
      backup: fixtures.player('POST', `${at}/backups`, {}),
      rename: fixtures.player('POST', `${at}/settings/rename`, { name: 'Half' }),
      application: fixtures.administrator('POST', '/locations', { short: 'half' }),
      deletion: fixtures.administrator('DELETE', `/servers/${fixtures.server.id}/force`),
      page: browsers.signedIn.ask('GET', '/'),
      session: browsers.signedIn.ask('GET', '/api/client/account'),
      login: browsers.guest.ask('POST', '/auth/login', login),
      servers: fixtures.remote('GET', '/servers'),
      install: install(),
      activity: fixtures.remote('POST', '/activity', { data: [activity] }),
      report: fixtures.remote('POST', `/backups/${backup.uuid}`, report),
      sftp: fixtures.remote('POST', '/sftp/auth', sftp),
    }
    const entries = Object.entries(calls).map(async ([name, call]) => [name, await call] as const)
    return Object.fromEntries(await Promise.all(entries))
  }

  it.each(failures)(
    'is %s refuses everything that needs it, changes nothing, and is found again',
    { timeout: 90_000 },
    async (how, fail) => {
      const backup = await fixtures.makeBackup({ isSuccessful: false, completedAt: null })
      const [textsBefore, fileBefore] = [await texts(), await file()]
      const browsers = { signedIn: await fixtures.signIn(), guest: await fixtures.signIn() }
      await browsers.guest.ask('POST', '/auth/logout')
      const before = await deployment.rows()
      await fail(proxy())
      const [answers, health] = await Promise.all([everything(backup, browsers), deployment.health()])
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
      // Each step of a tick has its own timeout.
      if (how === 'stopped') expect(refusalOf(await deployment.tick())).toEqual(away503)
      expect(textsBefore.status).toBe(200)
      expect(await deployment.rows()).toEqual(before)
      expect(deployment.daemon.calls).toEqual([])

      await proxy().restore()
      await expectWholeService(deployment, fixtures)
      expect((await deployment.health()).body.parts).toMatchObject({ database: 'ok', migrations: 'ok' })
    },
  )

  describe('dies in the middle of a transaction', () => {
    const whileDyingOn = async (table: string, work: () => Promise<void>) => {
      const { db } = deployment.services.database
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
      before = await deployment.rows()
    })
    afterEach(() => expectWholeService(deployment, fixtures))

    it('keeps nothing of a report, which the daemon sends again', async () => {
      await whileDyingOn('servers', async () => {
        expect(refusalOf(await install())).toEqual(away503)
      })
      expect(await deployment.rows()).toEqual(before)
      expect((await install()).status).toBe(204)
    })

    it('keeps nothing of what was to be told to a daemon, and tells it nothing', async () => {
      await whileDyingOn('jobs', async () => {
        const answers = [
          await fixtures.player('POST', `${at}/backups`, {}),
          await fixtures.administrator('DELETE', `/servers/${fixtures.server.id}/force`),
          await fixtures.administrator('POST', `/servers/${fixtures.server.id}/suspend`),
        ]
        expect(answers.map(refusalOf)).toEqual([away503, away503, away503])
      })
      expect(await deployment.rows()).toEqual(before)
      expect(deployment.daemon.calls).toEqual([])
    })

    it('serves the others meanwhile', async () => {
      await whileDyingOn('servers', async () => {
        const dying = Array.from({ length: 4 }, install)
        const reading = Array.from({ length: 8 }, () => fixtures.player('GET', '/account'))
        expect((await Promise.all(reading)).map(({ status }) => status)).toEqual(reading.map(() => 200))
        expect((await Promise.all(dying)).map(refusalOf)).toEqual(dying.map(() => away503))
      })
    })
  })
})
