import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findPostgres } from '../support/cloud-services.ts'
import { createDatabase } from '../support/database.ts'
import { hasMysql } from '../support/mysql.ts'
import { type CommandLine, openCommandLine } from './command-line.ts'
import { createOldDatabase, type OldDatabase } from './old-database.ts'
import { daysAgo } from './old-activity.ts'
import { appKeyText, known } from './old-panel.ts'
import type { OldVersion } from './old-schema.ts'

const hasServers = (await findPostgres('moving activity in')) && hasMysql

type Entry = {
  id: number
  event: string
  days?: number
  actor?: [type: string, id: number]
  ip?: string
  apiKey?: number
  properties?: string
  subjects?: [type: string, id: number][]
}

async function addEntry(old: OldDatabase, entry: Entry): Promise<void> {
  const [actorType, actorId] = entry.actor ?? [null, null]
  await old.insert('activity_logs', {
    id: entry.id,
    event: entry.event,
    ip: entry.ip ?? '203.0.113.9',
    actor_type: actorType,
    actor_id: actorId,
    api_key_id: entry.apiKey ?? null,
    properties: entry.properties ?? '{}',
    timestamp: daysAgo(entry.days ?? 1),
  })
  for (const [type, id] of entry.subjects ?? [])
    await old.insert('activity_log_subjects', {
      activity_log_id: entry.id,
      subject_type: type,
      subject_id: id,
    })
}

/** Opens an empty panel, and one of a version that moves into it. */
async function openMove(version: OldVersion) {
  const kind = version === 'pelican' ? 'pelican' : 'pterodactyl'
  const [database, old] = await Promise.all([createDatabase(), createOldDatabase(version)])
  const sql = postgres(database.url, { max: 3, onnotice: () => undefined })
  const cli: CommandLine = await openCommandLine({ DATABASE_URL: database.url })
  await cli.script('scripts/migrate.ts')
  const source = ['--database', old.url, '--app-key', appKeyText]
  const words = [`import:${kind}`, ...source]
  return {
    cli,
    old,
    sql,
    words,
    run: async (...more: string[]) => {
      const { code, body } = await cli.json(...words, ...more)
      const reasons = (body.findings ?? [])
        .filter(({ table }: any) => table.endsWith('_logs'))
        .map(({ what, ids, reason }: any) => `${what} ${ids}: ${reason}`)
      const activity = body.tables?.find(({ table }: any) => table === 'activity')
      return { code, body, reasons, activity }
    },
    verify: (...more: string[]) => cli.json('import:verify', ...source, ...more),
    close: async () => {
      await sql.end()
      await cli.remove()
      await old.drop()
      await database.drop()
    },
  }
}
type Opened = Awaited<ReturnType<typeof openMove>>

describe.skipIf(!hasServers).each(['1.11', 'pelican'] as const)('moving activity in from %s', (version) => {
  let move: Opened
  const model = (name: string) => (version === 'pelican' ? `App\\Models\\${name}` : name.toLowerCase())

  beforeAll(async () => {
    move = await openMove(version)
    const { old } = move
    const server: [string, number] = [model('Server'), 30]
    await old.query('set check_constraint_checks = 0')
    const list = { directory: '/', files: ['a.txt', 'b.txt'] }
    for (const entry of [
      { id: 10, event: 'server:file.delete', properties: JSON.stringify(list), apiKey: 1 },
      { id: 11, event: 'server:backup.start', days: 3, more: ['Backup', 1], lost: ['Backup', 99] },
      { id: 12, event: 'server:plugin.special', properties: '{"torn":' },
      { id: 13, event: 'server:file.write', properties: '{"file":"a\\u0000b"}' },
      { id: 14, event: 'server:sftp.write', ip: 'unknown', actor: 77 },
      { id: 15, event: 'server:power.kill', days: 200 },
      { id: 16, event: 'server:subuser.create', more: ['User', 6] },
    ] as { id: number; event: string; more?: [string, number]; lost?: [string, number]; actor?: number }[]) {
      const { more, lost, actor = 5, ...rest } = entry
      const further = [more, lost].flatMap((pair) =>
        pair ? [[model(pair[0]), pair[1]] as [string, number]] : [],
      )
      await addEntry(old, { ...rest, actor: [model('User'), actor], subjects: [server, ...further] })
    }
    await addEntry(old, { id: 17, event: 'auth:fail' })
    await addEntry(old, { id: 18, event: 'user:account.password-changed', subjects: [[model('User'), 77]] })
    await addEntry(old, {
      id: 20,
      event: 'user:account.password-changed',
      actor: [model('User'), 5],
      subjects: [[model('User'), 5]],
    })
  }, 120_000)
  afterAll(() => move?.close())

  const moved = async () => {
    const rows = await move.sql`select (id + 100000000000000)::int as id from activity order by id`
    return rows.map(({ id }) => id as number)
  }

  it('says with --check what comes and what does not', async () => {
    const { code, activity, reasons } = await move.run('--check')
    expect([code, activity]).toEqual([0, { table: 'activity', found: 12, movable: 10 }])
    expect(reasons).toEqual(
      expect.arrayContaining([
        'left out 3: is about a server that is not moved',
        'left out 18: is about a user that is not moved',
        'changed 11: loses subjects that are not moved',
        'changed 12,13: has properties that are damaged, and loses them',
        'changed 14: has an address that is none, and loses it',
        'changed 14: loses its actor, who is not moved: it is shown as of the system',
      ]),
    )
    expect(await moved()).toEqual([])
    expect((await move.run('--check', '--activity', 'none')).activity).toBeUndefined()
    const all = await move.run('--check', '--activity', 'all')
    expect(all.activity).toMatchObject({ found: 13, movable: 11 })
    expect(all.reasons).toContainEqual(expect.stringMatching(/^changed 15: is older than this panel keeps/))
  })

  it('refuses what is no time', async () => {
    const { code, stderr } = await move.cli.panel(...move.words, '--activity', 'most')
    expect([code, stderr]).toEqual([2, expect.stringContaining('--activity 90d')])
  })

  it('moves what this panel keeps, and finds it equal', { timeout: 60_000 }, async () => {
    const { code, body, activity } = await move.run()
    expect([code, body.error]).toEqual([0, undefined])
    expect(activity).toEqual({ table: 'activity', found: 12, movable: 10, written: 10 })
    expect(await moved()).toEqual([1, 2, 10, 11, 12, 13, 14, 16, 17, 20])
    const of = async (id: number) =>
      (
        await move.sql`select source, actor_id, api_key_id, server_id, user_id, ip, properties, array(
          select subject_type || ' ' || subject_id from activity_subjects where activity_id = activity.id
        ) as subjects from activity where id = ${id} - 100000000000000`
      )[0]
    expect(await of(10)).toMatchObject({
      source: 'api',
      actor_id: 5,
      api_key_id: 1,
      server_id: 30,
      user_id: null,
    })
    expect(await of(11)).toMatchObject({ source: 'web', subjects: ['backup 1'] })
    expect(await of(14)).toMatchObject({ source: 'sftp', actor_id: null, ip: null })
    expect(await of(16)).toMatchObject({ server_id: 30, user_id: null, subjects: ['user 6'] })
    expect(await of(20)).toMatchObject({ server_id: null, user_id: 5, properties: {} })
    expect((await move.verify()).body.differences).toEqual([])
  })

  it('keeps each month by itself, so that whole months are dropped later', async () => {
    const places = await move.sql`select distinct tableoid::regclass::text as name from activity`
    expect(places.map(({ name }) => name)).toEqual(
      places.map(() => expect.stringMatching(/^activity_\d{4}_\d\d$/)),
    )
  })

  it(
    'adds nothing when it is repeated, and later what came there, also behind a higher id',
    {
      timeout: 60_000,
    },
    async () => {
      // Kept no longer: it does not come back.
      await move.sql`delete from activity where id = 11 - 100000000000000`
      const { activity } = await move.run()
      expect(activity).toMatchObject({ movable: 10, written: 0 })
      await addEntry(move.old, { id: 19, event: 'auth:fail' })
      await addEntry(move.old, { id: 21, event: 'auth:fail' })
      expect((await move.run('--since')).activity).toMatchObject({ movable: 12, written: 2 })
      expect(await moved()).toEqual([1, 2, 10, 12, 13, 14, 16, 17, 19, 20, 21])
    },
  )

  it('brings what is older when it is asked for more', { timeout: 60_000 }, async () => {
    expect((await move.run('--activity', '300d')).activity).toMatchObject({ movable: 13, written: 2 })
    expect(await moved()).toEqual([1, 2, 10, 11, 12, 13, 14, 15, 16, 17, 19, 20, 21])
    expect((await move.run('--activity', 'all')).activity).toMatchObject({ movable: 13, written: 0 })
  })

  it('finds what differs', { timeout: 60_000 }, async () => {
    await move.sql`update activity set ip = '192.0.2.1' where id = 10 - 100000000000000`
    await move.sql`delete from activity where id = 16 - 100000000000000`
    await move.sql`delete from activity where id = 15 - 100000000000000`
    const { code, body } = await move.verify('--activity', 'all')
    const entry = (id: number, ...columns: string[]) => ({ table: 'activity', id: id - 1e14, columns })
    // That of 200 days ago is no longer kept.
    expect([code, body.differences]).toEqual([1, [entry(10, 'ip'), entry(16, '(missing)')]])
  })

  it('shows owners their entries, each what they may see', { timeout: 60_000 }, async () => {
    const panel = await move.cli.start()
    try {
      const list = async (path: string, token: string) => {
        const answer = await fetch(`${panel.url}${path}`, { headers: { authorization: `Bearer ${token}` } })
        return ((await answer.json()) as any).data.map(({ attributes }: any) => attributes)
      }
      const path = `/api/client/servers/${known.serverUuid}/activity?include=actor`
      const ofServer = await list(path, known.clientKey)
      const events = ofServer.map(({ event }: any) => event)
      expect(events.toSorted()).toEqual([
        'server:backup.start',
        'server:file.delete',
        'server:file.write',
        'server:plugin.special',
        'server:power.start',
        'server:sftp.write',
      ])
      expect(ofServer[events.indexOf('server:file.delete')]).toMatchObject({
        is_api: true,
        ip: '192.0.2.1',
        properties: { directory: '/', files: ['a.txt', 'b.txt'], count: 2 },
        relationships: { actor: { attributes: { username: 'ada' } } },
      })
      const ofAccount = await list('/api/client/account/activity', known.clientKey)
      expect(ofAccount.map(({ event }: any) => event)).toEqual(['user:account.password-changed'])
    } finally {
      await panel.stop()
    }
  })
})

describe.skipIf(!hasServers)('moving activity in from Pterodactyl 1.7', () => {
  let move: Opened
  beforeAll(async () => {
    move = await openMove('1.7')
    const entry = (id: number, server: number, metadata: string) =>
      move.old.insert('audit_logs', {
        id,
        uuid: `a000000${id}-0000-4000-8000-000000000000`,
        is_system: 0,
        user_id: 5,
        server_id: server,
        action: 'server:backup.started',
        subaction: null,
        device: '{"ip_address":"203.0.113.7","user_agent":"Browser"}',
        metadata,
        created_at: daysAgo(id),
      })
    await entry(1, 30, '{"backup_name":"Before"}')
    await entry(2, 33, '{}')
  }, 120_000)
  afterAll(() => move?.close())

  it('takes its audit log, whose ids are others', { timeout: 60_000 }, async () => {
    const { code, activity, reasons } = await move.run()
    expect([code, activity]).toEqual([0, { table: 'activity', found: 2, movable: 1, written: 1 }])
    expect(reasons).toEqual(['left out 2: is about a server that is not moved'])
    expect(await move.sql`select id::text, event, ip, actor_id, server_id, properties from activity`).toEqual(
      [
        {
          id: '-199999999999999',
          event: 'server:backup.started',
          ip: '203.0.113.7',
          actor_id: 5,
          server_id: 30,
          properties: { backup_name: 'Before' },
        },
      ],
    )
    expect(await move.verify()).toMatchObject({ code: 0, body: { differences: [] } })
    expect((await move.run()).activity).toMatchObject({ written: 0 })
  })
})
