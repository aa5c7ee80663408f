import { eq, sql } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { only, rowsOf } from '../../src/db/database.ts'
import { databaseHosts, databases, nodes, sessions, settings, users } from '../../src/db/schema.ts'
import { daemonSecret, previousTokenPlace } from '../../src/domain/daemon-address.ts'
import { passwordPlace as hostPasswordPlace } from '../../src/domain/database-hosts.ts'
import { passwordPlace, withPassword } from '../../src/domain/database-passwords.ts'
import { keepConfirmationToken, readConfirmationToken } from '../../src/domain/oauth/checkpoint.ts'
import { countSealed, reseal, sealedColumns } from '../../src/domain/reseal.ts'
import { importKeyRing, open, seal } from '../../src/domain/secrets.ts'
import { openSession, rememberInSession, sessionId } from '../../src/domain/sessions.ts'
import { setting } from '../../src/domain/settings.ts'
import type { KeyRing, Panel } from '../../src/panel.ts'
import { makeApplicationToken, makeNode, makeServer, makeUser } from '../support/factories.ts'
import { makeDatabaseHost } from '../support/mysql.ts'
import { giveSecondFactor } from '../support/second-factor.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
const freshKey = `fresh:${Buffer.alloc(32, 9).toString('base64')}`
/** Seals with a key that came after all secrets, and opens them still. */
let both: Panel
/** Knows the newer key alone. */
let fresh: Panel

const withKeys = (keys: KeyRing): Panel => ({ ...world.panel, db: world.database.db, keys })

beforeEach(async () => {
  const keys = await importKeyRing(freshKey)
  both = withKeys([...keys, ...world.panel.keys])
  fresh = withKeys(keys)
})

/** Every kind of secret once; gives what each of them is, in the clear, to a panel that opens it. */
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
  const password = await seal(world.panel, 'secret of the database', passwordPlace(account))
  await db.insert(databases).values({ ...account, serverId: server.id, database: 's1_x', password })
  const session = await openSession(world.panel, user, { userAgent: '', remember: false, previous: null })
  await keepConfirmationToken(world.panel, session, 'token of the checkpoint')
  const id = sessionId(session.token)
  const expiresAt = new Date(world.clock.now.getTime() + 60_000).toISOString()
  const challenge = { userId: user.id, authVersion: 0, tokenHash: '', expiresAt, tries: 0, remember: false }
  await rememberInSession(world.panel, { id }, { challenge })

  const nodeRow = async () => only(await db.select().from(nodes).where(eq(nodes.id, node.id)))
  return {
    daemon: async (panel) => daemonSecret(panel, await nodeRow()),
    previous: async (panel) => open(panel, (await nodeRow()).previousToken ?? '', previousTokenPlace(node)),
    factor: async (panel) => {
      const row = only(await db.select().from(users).where(eq(users.id, user.id)))
      return open(panel, row.totpSecret ?? '', { table: 'users', column: 'totp_secret', row: user.uuid })
    },
    database: async (panel) =>
      (await withPassword(panel, only(await db.select().from(databases)))).plainPassword,
    host: async (panel) =>
      open(panel, only(await db.select().from(databaseHosts)).password, hostPasswordPlace(host)),
    setting: (panel) => setting(panel, 'captcha.secret'),
    session: async (panel) =>
      readConfirmationToken(panel, only(await db.select().from(sessions).where(eq(sessions.id, id)))),
  }
}

const openAll = async (panel: Panel, secrets: Awaited<ReturnType<typeof makeSecrets>>) =>
  Promise.all(Object.values(secrets).map((secret) => secret(panel)))

/** Columns, of all that the database has, in which something stands that this key sealed. */
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

describe('sealing everything again', () => {
  it('takes each secret of each table from the old key to the newest', async () => {
    const secrets = await makeSecrets()
    const plain = await openAll(world.panel, secrets)
    expect(plain.every((secret) => typeof secret === 'string' && secret !== '')).toBe(true)
    expect(await columnsUnder('test')).toEqual(sealedColumns.toSorted())
    for (const { resealed, changed, failed } of await reseal(both))
      expect([resealed > 0, changed, failed]).toEqual([true, 0, 0])
    expect(await openAll(fresh, secrets)).toEqual(plain)
    expect(await columnsUnder('test')).toEqual([])
    expect(await columnsUnder('fresh')).toEqual(sealedColumns.toSorted())
    for (const { keys } of await countSealed(both)) expect(Object.keys(keys)).toEqual(['fresh'])
  })

  it('leaves what it has done alone, and changes nothing else of a row', async () => {
    await makeSecrets()
    const before = await world.database.db.select().from(settings)
    await reseal(both)
    const after = await world.database.db.select().from(settings)
    expect(after.map(({ updatedAt }) => updatedAt)).toEqual(before.map(({ updatedAt }) => updatedAt))
    expect(after.filter(({ key }) => key !== 'captcha.secret')).toEqual(
      before.filter(({ key }) => key !== 'captcha.secret'),
    )
    const again = await reseal(both)
    expect(again.map(({ resealed }) => resealed)).toEqual(sealedColumns.map(() => 0))
    expect(await world.database.db.select().from(settings)).toEqual(after)
  })

  it('does not overwrite what somebody else writes meanwhile', async () => {
    const node = await makeNode(world)
    const { db } = world.database
    const daemonToken = await seal(both, 'a newer secret', {
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
    const [first] = await reseal({ ...both, db: overtaken })
    expect(first).toEqual({ column: 'nodes.daemon_token', resealed: 0, changed: 1, failed: 0 })
    const row = only(await db.select().from(nodes).where(eq(nodes.id, node.id)))
    expect(await daemonSecret(fresh, row)).toBe('a newer secret')
  })

  it('leaves what does not open as it is, says so, and goes on', async () => {
    const [broken, lost, whole] = [await makeNode(world), await makeNode(world), await makeNode(world)]
    const { db } = world.database
    // Sealed for another row, and by a key that nobody has.
    await db.update(nodes).set({ daemonToken: whole.daemonToken }).where(eq(nodes.id, broken.id))
    const unknown = `gone${lost.daemonToken.slice('test'.length)}`
    await db.update(nodes).set({ daemonToken: unknown }).where(eq(nodes.id, lost.id))
    expect((await reseal(both))[0]).toEqual({
      column: 'nodes.daemon_token',
      resealed: 1,
      changed: 0,
      failed: 2,
    })
    expect((await countSealed(both))[0]?.keys).toEqual({ fresh: 1, gone: 1, test: 1 })
    const row = only(await db.select().from(nodes).where(eq(nodes.id, lost.id)))
    expect(row.daemonToken).toBe(unknown)
  })

  it('goes through more rows than it reads at a time', async () => {
    const uuids = Array.from({ length: 450 }, () => crypto.randomUUID())
    const rows = uuids.map(async (uuid, n) => ({
      uuid,
      username: `many${n}`,
      email: `many${n}@example.test`,
      firstName: 'Many',
      lastName: 'One',
      totpSecret: await seal(world.panel, uuid, { table: 'users', column: 'totp_secret', row: uuid }),
    }))
    await world.database.db.insert(users).values(await Promise.all(rows))
    const done = await reseal(both)
    expect(done.find(({ column }) => column === 'users.totp_secret')?.resealed).toBe(450)
  })
})
