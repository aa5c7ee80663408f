import { generateKeyPairSync } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import bcrypt from 'bcryptjs'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parsePublicKey } from '../../src/domain/accounts/ssh-public-key.ts'
import { findPostgres } from '../support/cloud-services.ts'
import { createDatabase } from '../support/database.ts'
import { hasMysql } from '../support/mysql.ts'
import { codesOf } from '../support/totp-codes.ts'
import { type CommandLine, openCommandLine } from './command-line.ts'
import { createOldDatabase, type OldDatabase } from './old-database.ts'
import { appKey, appKeyText, encryptAsOldPanel, known, type Row } from './old-panel.ts'
import type { OldVersion } from './old-schema.ts'
import { openPanelBrowser, signIn } from './sign-in.ts'

const hasServers = (await findPostgres('odd rows that moved in')) && hasMysql

const versions: OldVersion[] = ['1.7', '1.12']
const previousKey = Buffer.alloc(32, 3)
const longPassword = 'a password that is longer than bcrypt reads, which takes no more than 72 bytes of it'
const shortSecret = 'JBSWY3DPEHPK3PXP'
const nodeSecret = 'tokenof20characters0'
const pem = generateKeyPairSync('rsa', { modulusLength: 2048 })
  .publicKey.export({ type: 'spki', format: 'pem' })
  .toString()
  .replaceAll('\n', '\r\n')
const tokenOf = (name: string) => `${name.padEnd(16, 'x')}${name.charAt(0).repeat(32)}`
const uuidOf = (id: number) => `b${String(id).padStart(7, '0')}-0000-4000-8000-000000000000`

/** Encrypts as the oldest versions do: no tag, and slashes escaped as PHP writes them. */
function encryptAsOldest(plain: string): string {
  const payload = JSON.parse(
    Buffer.from(encryptAsOldPanel('pterodactyl', plain), 'base64').toString(),
  ) as Record<string, string>
  delete payload.tag
  return Buffer.from(JSON.stringify(payload).replaceAll('/', '\\/')).toString('base64')
}

/** The newest version has all of them, the oldest neither keys that end nor SSH keys. */
async function fill(old: OldDatabase, isOldest: boolean): Promise<void> {
  const lock = (text: string, key = appKey) => encryptAsOldPanel('pterodactyl', text, key)
  const hash = bcrypt.hashSync(known.password, 4)
  const user = (id: number, username: string, more: Record<string, string | number | null>) =>
    old.insert('users', {
      id,
      uuid: uuidOf(id),
      username,
      email: `${username}@old.example`,
      name_first: null,
      name_last: null,
      password: hash,
      use_totp: 0,
      ...more,
    })
  await user(10, 'oldest', { password: hash.replace('$2b$', '$2a$'), external_id: 'billing-1' })
  await user(11, 'second', { external_id: 'billing-1' })
  await user(12, 'unfinished', { totp_secret: lock(known.totpSecret) })
  await user(13, 'short', { use_totp: 1, totp_secret: encryptAsOldest(shortSecret) })
  await user(14, 'long', { password: bcrypt.hashSync(longPassword.slice(0, 72), 4) })
  await user(15, 'rotated', { use_totp: 1, totp_secret: lock(known.totpSecret, previousKey) })

  let id = 100
  const key = (
    user: number,
    type: number,
    token: string,
    more: Record<string, string | number | null> = {},
  ) =>
    old.insert('api_keys', {
      id: (id += 1),
      user_id: user,
      key_type: type,
      identifier: token.slice(0, 16),
      token: encryptAsOldest(token.slice(16)),
      ...more,
    })
  for (const type of [0, 3, 4]) await key(5, type, tokenOf(`type${type}`), { allowed_ips: null })
  await key(5, 2, tokenOf('writer'), { r_locations: 2 })
  if (!isOldest) await key(5, 1, tokenOf('ptlc_ended'), { expires_at: '2024-01-01 00:00:00' })
  await key(5, 1, tokenOf('rotated'), { token: lock(tokenOf('rotated').slice(16), previousKey) })
  for (let at = 0; at < 30; at += 1) await key(10, 1, tokenOf(`many${at}`))

  const addSshKey = (row: Row) => (isOldest ? undefined : old.insert('user_ssh_keys', row))
  await addSshKey({
    id: 50,
    user_id: 10,
    name: 'PEM',
    fingerprint: parsePublicKey(pem)?.fingerprint ?? '',
    public_key: pem,
  })
  await addSshKey({
    id: 51,
    user_id: 10,
    name: 'Gone',
    fingerprint: 'g'.repeat(43),
    public_key: pem,
    deleted_at: '2024-03-01 10:00:00',
  })
  await old.query(`update nodes set daemon_token = '${encryptAsOldest(nodeSecret)}' where id = 7`)

  await old.insert('locations', { id: 60, short: 's'.repeat(60), long: 'l'.repeat(191) })
  await old.query(`update allocations set ip_alias = '${'play.'.repeat(400)}example' where id = 40`)
  await old.insert('tasks', {
    id: 70,
    schedule_id: 1,
    sequence_id: 2,
    action: 'power',
    payload: 'stop',
    time_offset: 86_400,
    is_queued: 0,
  })
  await old.insert('tasks', {
    id: 71,
    schedule_id: 1,
    sequence_id: 3,
    action: 'power',
    payload: 'stop',
    time_offset: 4_294_967_295,
    is_queued: 0,
  })
  await old.insert('databases', {
    id: 80,
    server_id: 31,
    database_host_id: 1,
    database: 's30_world',
    username: 'u31_abc',
    password: lock('other'),
  })
  await old.query(`update servers set uuidShort = 'zz9kw3mq' where id = 31`)
}

describe.skipIf(!hasServers).each(versions)(
  'rows as databases of %s have them',
  { timeout: 120_000 },
  (version) => {
    const isOldest = version === '1.7'
    let cli: CommandLine
    let database: Awaited<ReturnType<typeof createDatabase>>
    let old: OldDatabase
    let sql: postgres.Sql
    let panel: Awaited<ReturnType<CommandLine['start']>>
    let reasons: string[]

    beforeAll(async () => {
      database = await createDatabase()
      sql = postgres(database.url, { max: 1, onnotice: () => undefined })
      cli = await openCommandLine({ DATABASE_URL: database.url })
      await cli.script('scripts/migrate.ts')
      old = await createOldDatabase(version)
      await fill(old, isOldest)
      await writeFile(
        join(cli.directory, 'old.env'),
        `APP_KEY=${appKeyText}\nAPP_PREVIOUS_KEYS=base64:${previousKey.toString('base64')}\n`,
      )
      await writeFile(join(cli.directory, 'panel.sql'), await old.dump())
    }, 180_000)
    afterAll(async () => {
      await panel?.stop()
      await sql?.end()
      await cli?.remove()
      await old?.drop()
      await database?.drop()
    })

    const source = () => ['--dump', join(cli.directory, 'panel.sql')]
    const call = async (path: string, token: string, body?: object) => {
      const answer = await fetch(`${panel.url}${path}`, {
        method: body ? 'POST' : 'GET',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      })
      return answer.status
    }
    const enter = async (user: string, password: string, factor = {}) =>
      (await signIn(await openPanelBrowser(panel.url), user, password, factor)).status

    it('are refused while values have a key that was not given', async () => {
      const { code, body } = await cli.json('import:pterodactyl', ...source(), '--app-key', appKeyText)
      expect([code, body.issues]).toEqual([
        1,
        expect.arrayContaining([
          { field: 'users', problem: '15: totp_secret has another key than APP_KEY and APP_PREVIOUS_KEYS' },
          {
            field: 'api_keys',
            problem: `${isOldest ? 105 : 106}: token has another key than APP_KEY and APP_PREVIOUS_KEYS`,
          },
        ]),
      ])
      expect(await sql`select id from users`).toEqual([])
      const previous = ['--previous-keys', `base64:${previousKey.toString('base64')}`]
      const words = ['import:pterodactyl', ...source(), '--app-key', appKeyText, ...previous, '--check']
      expect((await cli.json(...words)).code).toBe(0)
    })

    it('move by the rules that the report states', async () => {
      const env = ['--env', join(cli.directory, 'old.env')]
      const { code, body } = await cli.json('import:pterodactyl', ...source(), ...env)
      expect([code, body.error]).toEqual([0, undefined])
      reasons = body.findings.map(({ table, what, ids, reason }: any) => `${what} ${table} ${ids}: ${reason}`)
      expect(reasons).toEqual(
        expect.arrayContaining([
          'changed users 11: loses its external id, which is that of row 10',
          ...(isOldest ? [] : ['left out user_ssh_keys 51: was deleted']),
          'changed tasks 71: its time offset becomes 2147483647 seconds',
          'left out databases 80: has the host and name of row 1, which moves',
        ]),
      )
      // Nothing else of what is legal there is cut.
      expect(reasons.filter((reason) => reason.includes('is cut to'))).toEqual([])
      expect(await sql`select length(ip_alias) as alias from allocations where id = 40`).toEqual([
        { alias: 2007 },
      ])
      expect(
        await sql`select length(short) as short, length(long) as long from locations where id = 60`,
      ).toEqual([{ short: 60, long: 191 }])
      expect(await sql`select id, time_offset from tasks where id > 1 order by id`).toEqual([
        { id: 70, time_offset: 86_400 },
        { id: 71, time_offset: 2_147_483_647 },
      ])
      expect(await sql`select first_name, last_name from users where id = 10`).toEqual([
        { first_name: 'oldest', last_name: '' },
      ])
      expect(await cli.json('import:verify', ...source(), ...env)).toMatchObject({
        code: 0,
        body: { differences: [] },
      })
      panel = await cli.start()
    })

    it('sign in with any hash and any authenticator that worked', async () => {
      expect(await enter('oldest', known.password)).toBe(200)
      // The hash has the scheme of this panel from now on.
      expect(await enter('oldest', known.password)).toBe(200)
      expect(await enter('unfinished', known.password)).toBe(200)
      expect(await enter('long', longPassword)).toBe(200)
      expect(await enter('long', `${longPassword.slice(0, 70)}xx`)).not.toBe(200)
      const code = async (secret: string) => ({ authentication_code: await codesOf(secret)() })
      expect(await enter('short', known.password, await code(shortSecret))).toBe(200)
      expect(await enter('rotated', known.password, await code(known.totpSecret))).toBe(200)
      expect(await enter('rotated', known.password, await code(shortSecret))).not.toBe(200)
    })

    it('open the API with keys of every kind', async () => {
      for (const name of ['type0', 'type3', 'type4', 'rotated', 'many0', 'many29'])
        expect([name, await call('/api/client/account', tokenOf(name))]).toEqual([name, 200])
      // Of the oldest it was never there.
      expect(await call('/api/client/account', tokenOf('ptlc_ended'))).toBe(401)
      // Level 2 is to write without reading.
      expect(await call('/api/application/locations', tokenOf('writer'))).toBe(403)
      expect(await call('/api/application/locations', tokenOf('writer'), { short: 'new' })).toBe(201)
    })

    it('let a daemon with a token of 20 characters in, and a key in PEM', async () => {
      const daemon = `${known.node.id}.${nodeSecret}`
      expect(await call('/api/remote/servers', daemon)).toBe(200)
      expect(await call('/api/remote/servers', `${known.node.id}.${known.node.secret}`)).toBe(403)
      expect(await sql`select name from ssh_keys where user_id = 10`).toEqual(
        isOldest ? [] : [{ name: 'PEM' }],
      )
      expect(await call('/api/client/servers/zz9kw3mq', tokenOf('type0'))).toBe(200)
    })
  },
)
