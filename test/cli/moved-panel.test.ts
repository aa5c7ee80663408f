import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import bcrypt from 'bcryptjs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parsePublicKey } from '../../src/domain/accounts/ssh-public-key.ts'
import { findPostgres } from '../support/cloud-services.ts'
import { createDatabase } from '../support/database.ts'
import { asMysqlUser, hasMysql, mysqlAdmin } from '../support/mysql.ts'
import { openTestStore, type TestStore } from '../support/object-store.ts'
import { type CommandLine, openCommandLine } from './command-line.ts'
import {
  appKeyText,
  createOldPanel,
  encryptAsOldPanel,
  known,
  type OldKind,
  type OldPanel,
} from './old-panel.ts'
import { openPanelBrowser, signIn } from './sign-in.ts'

const hasPostgres = await findPostgres('a panel that moved in')

/** Drawn at random by the oldest panels, of letters of both cases. */
const shortId = 'QzX9kw3M'
const recoveryCodes = ['a1B2c3D4e5', 'f6G7h8I9j0']
const gameDatabase = `roost_test_game_${randomBytes(4).toString('hex')}`
const clientKeys = {
  unrelated: `ptlc_unrelatedxx${'o'.repeat(32)}`,
  subuser: `ptlc_subuserxxxx${'s'.repeat(32)}`,
}

/** A new SSH key as a line of `authorized_keys`. */
function newKeyLine(): string {
  const { x = '' } = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' })
  const type = Buffer.from('0000000b7373682d6564323535313900000020', 'hex')
  return `ssh-ed25519 ${Buffer.concat([type, Buffer.from(x, 'base64url')]).toString('base64')}`
}
const keyLine = newKeyLine()

/** Adds to the old panel what only these tests need. */
async function fillOldPanel(kind: OldKind, old: OldPanel): Promise<void> {
  const hashes = recoveryCodes.map((code) => bcrypt.hashSync(code, 4).replace('$2b$', '$2y$'))
  if (kind === 'pelican')
    await old.query(
      `update users set mfa_app_recovery_codes = '${encryptAsOldPanel(kind, JSON.stringify(hashes))}' where id = 5`,
    )
  else {
    await old.query(
      'create table if not exists recovery_tokens (id bigint primary key auto_increment, user_id int, token varchar(191), created_at timestamp null)',
    )
    for (const hash of hashes)
      await old.query(`insert into recovery_tokens (user_id, token) values (5, '${hash}')`)
  }
  const short = kind === 'pelican' ? 'uuid_short' : 'uuidShort'
  await old.query(`update servers set ${short} = '${shortId}' where id = 31`)
  const password = bcrypt.hashSync(known.password, 4)
  await old.query(
    `insert into users (id, uuid, username, email, password, language) values
      (9, 'a0000009-0000-4000-8000-000000000000', 'carl', 'carl@old.example', '${password}', 'en')`,
  )
  for (const [id, user, token] of [
    [20, 9, clientKeys.unrelated],
    [21, 6, clientKeys.subuser],
  ] as const)
    await old.query(
      `insert into api_keys (id, user_id, key_type, identifier, token) values
        (${id}, ${user}, 1, '${token.slice(0, 16)}', '${encryptAsOldPanel(kind, token.slice(16))}')`,
    )
  await old.query(
    `update subusers set permissions = '["file.read","file.sftp","database.read"]' where id = 1`,
  )
  await old.query(
    `update user_ssh_keys set fingerprint = '${parsePublicKey(keyLine)?.fingerprint}' where id = 1`,
  )
  await old.query(
    `update \`databases\` set \`database\` = '${gameDatabase}', username = '${gameDatabase}' where id = 1`,
  )
  await old.query(
    `update database_hosts set host = '${mysqlAdmin.host}', port = ${mysqlAdmin.port}, username = '${mysqlAdmin.username}',
      password = '${encryptAsOldPanel(kind, mysqlAdmin.password)}'`,
  )
  await old.query(`update schedules set cron_hour = '4', cron_minute = '30' where id = 1`)
}

describe.skipIf(!hasPostgres || !hasMysql).each<OldKind>(['pterodactyl', 'pelican'])(
  'a panel that moved in from %s',
  (kind) => {
    let cli: CommandLine
    let database: Awaited<ReturnType<typeof createDatabase>>
    let old: OldPanel
    let store: TestStore
    let panel: Awaited<ReturnType<CommandLine['start']>>

    beforeAll(async () => {
      ;[database, old, store] = await Promise.all([createDatabase(), createOldPanel(kind), openTestStore()])
      await fillOldPanel(kind, old)
      const admin = (statement: string) => asMysqlUser(mysqlAdmin.username, mysqlAdmin.password, statement)
      await admin(`create database ${gameDatabase}`)
      await admin(`create user '${gameDatabase}'@'%' identified by 'database secret'`)
      await admin(`grant all on ${gameDatabase}.* to '${gameDatabase}'@'%'`)
      const { options } = store
      cli = await openCommandLine({
        DATABASE_URL: database.url,
        S3_BUCKET: options.bucket,
        S3_REGION: options.region,
        S3_ENDPOINT: options.endpoint ?? '',
        S3_ACCESS_KEY_ID: options.accessKeyId,
        S3_SECRET_ACCESS_KEY: options.secretAccessKey,
        S3_PATH_STYLE: 'true',
      })
      await cli.script('scripts/migrate.ts')
      const env = join(cli.directory, 'old.env')
      await writeFile(
        env,
        `APP_KEY=${appKeyText}\nAPP_TIMEZONE=Europe/Berlin\nHASHIDS_SALT=this is my salt\n`,
      )
      const { code, body } = await cli.json(`import:${kind}`, '--database', old.url, '--env', env)
      expect([code, body.error]).toEqual([0, undefined])
      panel = await cli.start()
    }, 180_000)
    afterAll(async () => {
      await panel?.stop()
      await cli?.remove()
      await Promise.all([old?.drop(), store?.close()])
      for (const statement of [
        `drop database if exists ${gameDatabase}`,
        `drop user if exists '${gameDatabase}'@'%'`,
      ])
        await asMysqlUser(mysqlAdmin.username, mysqlAdmin.password, statement)
      await database?.drop()
    })

    const call = async (path: string, token: string, body?: object) => {
      const answer = await fetch(`${panel.url}${path}`, {
        method: body ? 'POST' : 'GET',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      })
      const text = await answer.text()
      return { status: answer.status, body: text === '' ? null : (JSON.parse(text) as any) }
    }
    const daemonToken = `${known.node.id}.${known.node.secret}`
    const sftp = (username: string, password: string, type = 'password') =>
      call('/api/remote/sftp/auth', daemonToken, { type, username, password, ip: '203.0.113.9:4000' })

    it('takes each recovery code once, also of two sign-ins at once', async () => {
      const use = async (code: string) =>
        (await signIn(await openPanelBrowser(panel.url), 'ada', known.password, { recovery_token: code }))
          .status
      expect([await use(recoveryCodes[0] ?? ''), await use(recoveryCodes[0] ?? '')]).toEqual([200, 400])
      const both = await Promise.all([use(recoveryCodes[1] ?? ''), use(recoveryCodes[1] ?? '')])
      expect(both.toSorted((one, other) => one - other)).toEqual([200, 400])
    })

    it('does not bring back a used recovery code when the import is repeated', async () => {
      const words = ['--database', old.url, '--app-key', appKeyText, '--timezone', 'Europe/Berlin']
      const { body } = await cli.json(`import:${kind}`, ...words)
      expect(body.tables.filter(({ written }: any) => written > 0)).toEqual([])
      const browser = await openPanelBrowser(panel.url)
      const used = await signIn(browser, 'ada', known.password, { recovery_token: recoveryCodes[0] })
      expect(used.status).toBe(400)
    })

    it('finds a server by a short id that does not begin its uuid', async () => {
      const found = await call(`/api/client/servers/${shortId}`, clientKeys.subuser)
      expect(found.body.attributes).toMatchObject({ identifier: shortId, internal_id: 31 })
      const { uuid } = found.body.attributes
      for (const name of [shortId.toLowerCase(), uuid])
        expect((await call(`/api/client/servers/${name}`, clientKeys.subuser)).body.attributes.uuid).toBe(
          uuid,
        )
      expect((await call(`/api/client/servers/${uuid.slice(0, 8)}`, clientKeys.subuser)).status).toBe(404)
      const lists = [
        ['/api/client?filter[*]=', shortId, clientKeys.subuser],
        ['/api/application/servers?filter[uuidShort]=', shortId.slice(1, 6), known.applicationKey],
        ['/api/application/servers?search=', shortId, known.applicationKey],
      ] as const
      for (const [path, text, key] of lists) {
        const { data } = (await call(`${path}${text}`, key)).body
        expect(
          data.map(({ attributes }: any) => attributes.identifier),
          path,
        ).toEqual([shortId])
      }
      expect((await call(`/api/remote/servers/${uuid}`, daemonToken)).body.settings.uuid).toBe(uuid)
    })

    it('takes logins of SFTP by password, by key and by any short id', async () => {
      const of30 = known.serverUuid.slice(0, 8)
      expect((await sftp(`ada.${of30}`, known.password)).body.server).toBe(known.serverUuid)
      expect((await sftp(`ada.${of30}`, keyLine, 'public_key')).body.server).toBe(known.serverUuid)
      expect((await sftp(`bob.${shortId}`, known.password)).status).toBe(200)
      expect((await sftp(`bob.${of30}`, known.password)).body.permissions).toEqual(
        expect.arrayContaining(['file.read', 'file.sftp']),
      )
      expect((await sftp(`carl.${of30}`, known.password)).status).toBe(403)
      expect((await sftp(`ada.${of30}`, newKeyLine(), 'public_key')).status).toBe(403)
    })

    it('shows each what they saw before', async () => {
      const path = `/api/client/servers/${known.serverUuid}`
      const statuses = async (token: string) =>
        Promise.all(
          ['', '/databases', '/backups', '/schedules'].map(
            async (part) => (await call(`${path}${part}`, token)).status,
          ),
        )
      expect(await statuses(known.clientKey)).toEqual([200, 200, 200, 200])
      expect(await statuses(clientKeys.subuser)).toEqual([200, 200, 403, 403])
      expect(await statuses(clientKeys.unrelated)).toEqual([404, 404, 404, 404])
    })

    it('opens the database with the password that it shows', async () => {
      const path = `/api/client/servers/${known.serverUuid}/databases?include=password`
      const [shown] = (await call(path, known.clientKey)).body.data
      const { username, relationships } = shown.attributes
      const { password } = relationships.password.attributes
      await asMysqlUser(username, password, `create table ${gameDatabase}.worlds (id int)`)
    })

    it.runIf(kind === 'pterodactyl')('takes the id of a database as it was shown before', async () => {
      const path = `/api/client/servers/${known.serverUuid}/databases`
      const rotate = (id: string, server = known.serverUuid) =>
        call(`/api/client/servers/${server}/databases/${id}/rotate-password`, known.clientKey, {})
      // 1 with the salt of the old panel.
      const rotated = await rotate('gB0NV05e')
      expect([rotated.status, rotated.body.attributes.id]).toEqual([200, '1'])
      expect((await rotate('1')).status).toBe(200)
      for (const id of ['gB0NV05E', 'NV', '0', '2', '99999999999'])
        expect([id, (await rotate(id)).status]).toEqual([id, 404])
      expect((await rotate('gB0NV05e', shortId)).status).toBe(404)
      const [shown] = (await call(path, known.clientKey)).body.data
      expect(shown.attributes.id).toBe('1')
    })

    it('signs links for the object of a backup', async () => {
      const [backup] = (await call(`/api/client/servers/${known.serverUuid}/backups`, known.clientKey)).body
        .data
      const key = `${known.serverUuid}/${backup.attributes.uuid}.tar.gz`
      const { options } = store
      await fetch(`${options.endpoint}/${options.bucket}/${key}`, {
        method: 'PUT',
        headers: { authorization: `AWS4-HMAC-SHA256 Credential=${options.accessKeyId}/` },
        body: 'an archive',
      })
      const path = `/api/client/servers/${known.serverUuid}/backups/${backup.attributes.uuid}/download`
      const { url } = (await call(path, known.clientKey)).body.attributes
      expect(await (await fetch(url)).text()).toBe('an archive')
    })

    it('runs a schedule next at its time in the zone of the old panel', async () => {
      const [schedule] = (await call(`/api/client/servers/${known.serverUuid}/schedules`, known.clientKey))
        .body.data
      const next = new Date(schedule.attributes.next_run_at)
      const local = next.toLocaleTimeString('en-GB', { timeZone: 'Europe/Berlin' })
      const hours = (next.getTime() - Date.now()) / 3_600_000
      expect([local, hours > 0 && hours <= 25]).toEqual(['04:30:00', true])
    })
  },
)
