import { eq, sql } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { single, rowsOf } from '../../src/db/database.ts'
import { databaseHosts, databases, nodes, sessions, settings, users } from '../../src/db/schema.ts'
import { decryptDaemonToken, previousTokenLocation } from '../../src/domain/nodes/daemon-address.ts'
import { hostPasswordLocation as hostPasswordPlace } from '../../src/domain/databases/hosts.ts'
import { databasePasswordLocation, withPlainPassword } from '../../src/domain/databases/passwords.ts'
import { storeConfirmationToken, readConfirmationToken } from '../../src/domain/auth/oauth/checkpoint.ts'
import { countSecretsByKey, rotateKeys, encryptedColumns } from '../../src/domain/operations/rotate-keys.ts'
import { importKeyRing, decrypt, encrypt } from '../../src/domain/secrets.ts'
import { createSession, mergeSessionData, sessionId } from '../../src/domain/auth/sessions.ts'
import { getSetting } from '../../src/domain/settings/settings.ts'
import type { KeyRing, Panel } from '../../src/panel.ts'
import { makeApplicationToken, makeNode, makeServer, makeUser } from '../support/factories.ts'
import { makeDatabaseHost } from '../support/mysql.ts'
import { giveSecondFactor } from '../support/second-factor.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
const freshKey = `fresh:${Buffer.alloc(32, 9).toString('base64')}`
/** Encrypts with a key that is newer than all secrets, and can still decrypt them. */
let both: Panel
/** Has only the newer key. */
let fresh: Panel

const withKeys = (keys: KeyRing): Panel => ({ ...world.panel, db: world.database.db, keys })

beforeEach(async () => {
  const keys = await importKeyRing(freshKey)
  both = withKeys([...keys, ...world.panel.keys])
  fresh = withKeys(keys)
})

/** Inserts every kind of secret once; returns a function that decrypts each of them. */
async function makeSecrets(): Promise<Record<string, (panel: Panel) => Promise<unknown>>> {
  const { db } = world.database
  const token = await makeApplicationToken(world)
  const node = await makeNode(world)
  await world.request('PATCH', `/api/application/nodes/${node.id}`, { token, body: { reset_secret: true } })
  const captcha = { provider: 'turnstile', site_key: 'site', secret: 'secret of the captcha' }
  await world.request('PATCH', '/api/application/settings', { token, body: { captcha } })
  const user = await makeUser(world)
  await giveSecondFactor(world, user)
  const server = await makeServer(world)
  const host = await makeDatabaseHost(world, { secret: 'secret of the host' })
  const account = { databaseHostId: host.id, username: 'u1_abc' }
  const password = await encrypt(world.panel, 'secret of the database', databasePasswordLocation(account))
  await db.insert(databases).values({ ...account, serverId: server.id, database: 's1_x', password })
  const session = await createSession(world.panel, user, { userAgent: '', remember: false, previous: null })
  await storeConfirmationToken(world.panel, session, 'token of the checkpoint')
  const id = sessionId(session.token)
  const expiresAt = new Date(world.clock.now.getTime() + 60_000).toISOString()
  const challenge = { userId: user.id, authVersion: 0, tokenHash: '', expiresAt, tries: 0, remember: false }
  await mergeSessionData(world.panel, { id }, { challenge })

  const nodeRow = async () => single(await db.select().from(nodes).where(eq(nodes.id, node.id)))
  return {
    daemon: async (panel) => decryptDaemonToken(panel, await nodeRow()),
    previous: async (panel) =>
      decrypt(panel, (await nodeRow()).previousToken ?? '', previousTokenLocation(node)),
    factor: async (panel) => {
      const row = single(await db.select().from(users).where(eq(users.id, user.id)))
      return decrypt(panel, row.totpSecret ?? '', { table: 'users', column: 'totp_secret', row: user.uuid })
    },
    database: async (panel) =>
      (await withPlainPassword(panel, single(await db.select().from(databases)))).plainPassword,
    host: async (panel) =>
      decrypt(panel, single(await db.select().from(databaseHosts)).password, hostPasswordPlace(host)),
    setting: (panel) => getSetting(panel, 'captcha.secret'),
    session: async (panel) =>
      readConfirmationToken(panel, single(await db.select().from(sessions).where(eq(sessions.id, id)))),
  }
}

const openAll = async (panel: Panel, secrets: Awaited<ReturnType<typeof makeSecrets>>) =>
  Promise.all(Object.values(secrets).map((secret) => secret(panel)))

/** Lists all columns of the database with a value that this key encrypted. */
async function columnsUnder(id: string): Promise<string[]> {
  const { db } = world.database
  const all = rowsOf<{ table: string; column: string }>(
    await db.execute(sql`
      select table_name as "table", column_name as "column" from information_schema.columns
      where table_schema = 'public' and data_type in ('text', 'jsonb', 'character varying')`),
  )
  const holding: string[] = []
  for (const { table, column } of all) {
    const found = await db.execute(sql`
      select 1 from ${sql.identifier(table)}
      where ${sql.identifier(column)}::text ~ ${`(^|")${id}\\.[\\w-]{16}\\.[\\w-]+("|$)`} limit 1`)
    if (rowsOf(found).length > 0) holding.push(`${table}.${column}`)
  }
  return holding.toSorted()
}

describe('rotating all secrets', () => {
  it('encrypts each secret of each table with the newest key', async () => {
    const secrets = await makeSecrets()
    const plain = await openAll(world.panel, secrets)
    expect(plain.every((secret) => typeof secret === 'string' && secret !== '')).toBe(true)
    expect(await columnsUnder('test')).toEqual(encryptedColumns.toSorted())
    for (const { resealed, changed, failed } of await rotateKeys(both))
      expect([resealed > 0, changed, failed]).toEqual([true, 0, 0])
    expect(await openAll(fresh, secrets)).toEqual(plain)
    expect(await columnsUnder('test')).toEqual([])
    expect(await columnsUnder('fresh')).toEqual(encryptedColumns.toSorted())
    for (const { keys } of await countSecretsByKey(both)) expect(Object.keys(keys)).toEqual(['fresh'])
  })

  it('skips secrets that are already rotated, and changes nothing else of a row', async () => {
    await makeSecrets()
    const before = await world.database.db.select().from(settings)
    await rotateKeys(both)
    const after = await world.database.db.select().from(settings)
    expect(after.map(({ updatedAt }) => updatedAt)).toEqual(before.map(({ updatedAt }) => updatedAt))
    expect(after.filter(({ key }) => key !== 'captcha.secret')).toEqual(
      before.filter(({ key }) => key !== 'captcha.secret'),
    )
    const again = await rotateKeys(both)
    expect(again.map(({ resealed }) => resealed)).toEqual(encryptedColumns.map(() => 0))
    expect(await world.database.db.select().from(settings)).toEqual(after)
  })

  it('does not overwrite a concurrent change', async () => {
    const node = await makeNode(world)
    const { db } = world.database
    const daemonToken = await encrypt(both, 'a newer secret', {
      table: 'nodes',
      column: 'daemon_token',
      row: node.uuid,
    })
    const overtaken = Object.create(db, {
      execute: {
        value: async (statement: Parameters<typeof db.execute>[0]) => {
          await db.update(nodes).set({ daemonToken }).where(eq(nodes.id, node.id))
          return db.execute(statement)
        },
      },
    }) as typeof db
    const [first] = await rotateKeys({ ...both, db: overtaken })
    expect(first).toEqual({ column: 'nodes.daemon_token', resealed: 0, changed: 1, failed: 0 })
    const row = single(await db.select().from(nodes).where(eq(nodes.id, node.id)))
    expect(await decryptDaemonToken(fresh, row)).toBe('a newer secret')
  })

  it('keeps secrets that cannot be decrypted, reports them, and continues', async () => {
    const [broken, lost, whole] = [await makeNode(world), await makeNode(world), await makeNode(world)]
    const { db } = world.database
    // Encrypted for another row, and with an unknown key.
    await db.update(nodes).set({ daemonToken: whole.daemonToken }).where(eq(nodes.id, broken.id))
    const unknown = `gone${lost.daemonToken.slice('test'.length)}`
    await db.update(nodes).set({ daemonToken: unknown }).where(eq(nodes.id, lost.id))
    expect((await rotateKeys(both))[0]).toEqual({
      column: 'nodes.daemon_token',
      resealed: 1,
      changed: 0,
      failed: 2,
    })
    expect((await countSecretsByKey(both))[0]?.keys).toEqual({ fresh: 1, gone: 1, test: 1 })
    const row = single(await db.select().from(nodes).where(eq(nodes.id, lost.id)))
    expect(row.daemonToken).toBe(unknown)
  })

  it('handles more rows than one batch', async () => {
    const uuids = Array.from({ length: 450 }, () => crypto.randomUUID())
    const rows = uuids.map(async (uuid, n) => ({
      uuid,
      username: `many${n}`,
      email: `many${n}@example.test`,
      firstName: 'Many',
      lastName: 'One',
      totpSecret: await encrypt(world.panel, uuid, { table: 'users', column: 'totp_secret', row: uuid }),
    }))
    await world.database.db.insert(users).values(await Promise.all(rows))
    const done = await rotateKeys(both)
    expect(done.find(({ column }) => column === 'users.totp_secret')?.resealed).toBe(450)
  })
})
