import { generateKeyPairSync } from 'node:crypto'
import postgres from 'postgres'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { parsePublicKey } from '../../src/domain/accounts/ssh-public-key.ts'
import { findPostgres } from '../support/cloud-services.ts'
import { createDatabase } from '../support/database.ts'
import { hasMysql } from '../support/mysql.ts'
import { type CommandLine, openCommandLine } from './command-line.ts'
import { createOldDatabase, type OldDatabase } from './old-database.ts'
import { appKeyText, encryptAsOldPanel } from './old-panel.ts'
import { type OldVersion, tablesOf } from './old-schema.ts'

const hasServers = (await findPostgres('odd rows of each version')) && hasMysql
const versions: OldVersion[] = ['1.7', '1.12', 'pelican']

/** Columns whose texts mean something, so that any other text is another case. */
const meant =
  /^(?:id|uuid|uuidShort|uuid_short|email|username|identifier|token|.*token.*|password|scheme|status|action|disk|env_variable|ip|guard_name|key|language|oauth|cron_\w+|mfa_\w+|totp_secret|remember_token|config_\w+|threads|allowed_ips|timezone|checksum|upload_id|public_key|fingerprint|ignored_files|author|fqdn|payload|customization|tags|\w+_type|event)$/
const tables = [
  'users',
  'api_keys',
  'user_ssh_keys',
  'locations',
  'nodes',
  'mounts',
  'database_hosts',
  'nests',
  'eggs',
  'egg_variables',
  'servers',
  'allocations',
  'schedules',
  'backups',
  'roles',
]

/** A new SSH key as a line of `authorized_keys`. */
function newKeyLine(): string {
  const { x = '' } = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' })
  const type = Buffer.from('0000000b7373682d6564323535313900000020', 'hex')
  return `ssh-ed25519 ${Buffer.concat([type, Buffer.from(x, 'base64url')]).toString('base64')}`
}

describe.skipIf(!hasServers).each(versions)('odd rows of %s', { timeout: 120_000 }, (version) => {
  const kind = version === 'pelican' ? 'pelican' : 'pterodactyl'
  let cli: CommandLine
  let database: Awaited<ReturnType<typeof createDatabase>>
  let old: OldDatabase
  let sql: postgres.Sql

  beforeAll(async () => {
    database = await createDatabase()
    sql = postgres(database.url, { max: 1, onnotice: () => undefined })
    cli = await openCommandLine({ DATABASE_URL: database.url })
    await cli.script('scripts/migrate.ts')
    old = await createOldDatabase(version)
  }, 120_000)
  beforeEach(async () => {
    await sql`truncate users, roles, locations, nodes, nests, mounts, database_hosts, servers, moved_rows cascade`
  })
  afterAll(async () => {
    await sql?.end()
    await cli?.remove()
    await old?.drop()
    await database?.drop()
  })

  const move = async () => {
    const { code, body } = await cli.json(`import:${kind}`, '--database', old.url, '--app-key', appKeyText)
    const reasons = (body.findings ?? []).map(
      ({ table, what, ids, reason }: any) => `${what} ${table} ${ids}: ${reason}`,
    )
    return { code, body, reasons: reasons as string[] }
  }

  const verify = async () =>
    (await cli.json('import:verify', '--database', old.url, '--app-key', appKeyText)).body.differences

  /** Gives every text the length that its column has. */
  async function fillTexts(): Promise<void> {
    for (const { name, columns } of tablesOf(version).filter((table) => tables.includes(table.name)))
      for (const column of columns.filter((each) => !meant.test(each.name))) {
        const [, length] = /^varchar\((\d+)\)$/.exec(column.type) ?? []
        if (length === undefined && column.type !== 'text') continue
        const text =
          length === undefined ? `repeat('ü', 32767)` : `concat(id, repeat('🎲', ${length} - length(id)))`
        await old.query(`update \`${name}\` set \`${column.name}\` = ${text}`)
      }
  }

  it('move with the longest texts that they can have there', async () => {
    await fillTexts()
    const { code, body, reasons } = await move()
    expect([code, body.error]).toEqual([0, undefined])
    const cut = ['nodes 7: name is cut to 100 characters']
    const pelican = ['servers 30,31: name', 'mounts 2: name', 'mounts 2: source', 'mounts 2: target']
    if (kind === 'pelican') cut.push(...pelican.map((text) => `${text} is cut to 191 characters`))
    expect(reasons.filter((reason) => reason.includes('is cut')).toSorted()).toEqual(
      cut.map((text) => `changed ${text}`).toSorted(),
    )
    if (kind === 'pelican')
      expect(
        await sql`select distinct length(external_id) as n from (
          select external_id from users union all select external_id from servers) ids`,
      ).toEqual([{ n: 255 }])
    expect(await sql`select name from nodes`).toEqual([{ name: `7${'🎲'.repeat(99)}` }])
    expect(await verify()).toEqual([])
  })

  it('are refused by id with an empty name where this panel needs one', async () => {
    await old.query("update servers set name = '' where id = 31")
    await old.query("update nodes set name = ''")
    const { code, body } = await move()
    expect([code, body.issues]).toEqual([
      1,
      [
        { field: 'nodes', problem: '7: its name is empty' },
        { field: 'servers', problem: '31: its name is empty' },
      ],
    ])
    expect(await sql`select id from users`).toEqual([])
    await old.query("update servers set name = 'Named' where name = ''")
    await old.query("update nodes set name = 'Named'")
  })

  // Of a row whose parent is refused nothing is said: it does not move, either.
  it.each<[string, [table: string, column: string, id: number][]]>([
    [
      'of parents',
      [
        ['users', kind === 'pelican' ? 'mfa_app_secret' : 'totp_secret', 5],
        ['nodes', 'daemon_token', 7],
        ['database_hosts', 'password', 1],
      ],
    ],
    [
      'of others',
      [
        ['api_keys', 'token', 1],
        ['databases', 'password', 1],
      ],
    ],
  ])('are refused by id with a secret that was never encrypted, %s', async (_, places) => {
    const before = new Map<string, string>()
    for (const [table, column, id] of places) {
      const [[row]] = (await old.query(`select \`${column}\` as v from \`${table}\` where id = ${id}`)) as any
      before.set(table, row.v)
      await old.query(`update \`${table}\` set \`${column}\` = 'JBSWY3DPEHPK3PXP' where id = ${id}`)
    }
    const { code, body } = await move()
    for (const [table, column, id] of places)
      await old.query(`update \`${table}\` set \`${column}\` = '${before.get(table)}' where id = ${id}`)
    const problems = places.map(([field, column, id]) => ({
      field,
      problem: `${id}: ${column} is not an encrypted value, or is torn`,
    }))
    expect([code, body.error]).toEqual([1, 'Nothing was written.'])
    expect(body.issues).toEqual(expect.arrayContaining(problems))
    expect(body.issues).toHaveLength(problems.length)
    expect(await sql`select id from users`).toEqual([])
  })

  it('move without dates where those are zero, as they are in a live database', async () => {
    const zero = '0000-00-00 00:00:00'
    for (const { name, columns } of tablesOf(version).filter((table) => tables.includes(table.name)))
      for (const column of columns.filter(({ type }) => type === 'timestamp'))
        if (column.name !== 'deleted_at' || kind === 'pelican')
          await old.query(`update \`${name}\` set \`${column.name}\` = '${zero}'`)
    const { code, body, reasons } = await move()
    expect([code, body.error]).toEqual([0, undefined])
    expect(reasons).toContain('left out backups 1,2: was not complete')
    const [found] =
      await sql`select (select bool_and(created_at > now() - interval '1 hour') from users) as users,
      (select bool_and(expires_at is null and last_used_at is null) from api_keys) as keys,
      (select bool_and(last_run_at is null and next_run_at > now()) from schedules) as schedules`
    expect(found).toEqual({ users: true, keys: true, schedules: true })
    expect(await verify()).toEqual([])
  })

  it.runIf(kind === 'pterodactyl')('stay behind where a backup was deleted', async () => {
    await old.query(
      "update backups set completed_at = '2024-03-01 10:00:00', is_successful = 1, deleted_at = if(id = 2, '2024-03-02 10:00:00', null)",
    )
    const { code, reasons } = await move()
    expect([code, reasons.filter((reason) => reason.includes('backups'))]).toEqual([
      0,
      ['left out backups 2: was deleted'],
    ])
    expect(await sql`select id from backups`).toEqual([{ id: 1 }])
    expect(await verify()).toEqual([])
  })

  it.runIf(version !== '1.7')('move with more SSH keys than a user can add here', async () => {
    await old.query('delete from user_ssh_keys')
    for (let id = 1; id <= 30; id += 1) {
      const key = newKeyLine()
      await old.insert('user_ssh_keys', {
        id,
        user_id: 6,
        name: `Key ${id}`,
        fingerprint: parsePublicKey(key)?.fingerprint ?? '',
        public_key: key,
      })
    }
    const token = `ptlc_ofbobsbot00${'b'.repeat(32)}`
    await old.insert('api_keys', {
      id: 90,
      user_id: 6,
      key_type: 1,
      identifier: token.slice(0, 16),
      token: encryptAsOldPanel(kind, token.slice(16)),
      ...(kind === 'pelican' ? { allowed_ips: '[]', permissions: '{}' } : {}),
    })
    const { code, body } = await move()
    expect([code, body.tables.find(({ table }: any) => table === 'ssh_keys')]).toEqual([
      0,
      { table: 'ssh_keys', found: 30, movable: 30, written: 30 },
    ])
    const panel = await cli.start()
    try {
      const answer = await fetch(`${panel.url}/api/client/account/ssh-keys`, {
        headers: { authorization: `Bearer ${token}` },
      })
      expect(((await answer.json()) as any).data).toHaveLength(30)
    } finally {
      await panel.stop()
    }
  })
})
