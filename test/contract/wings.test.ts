import { readdirSync, readFileSync } from 'node:fs'
import { eq } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { single } from '../../src/db/database.ts'
import { backups, nodes, servers, sshKeys, transfers, type users } from '../../src/db/schema.ts'
import type { Server } from '../../src/db/tables/servers.ts'
import { makeAllocation, makeNode, makeServer, makeUser } from '../support/factories.ts'
import { useWorld, type World } from '../support/world.ts'

/**
 * One call of the stock daemon and what it must find. In texts `{server}`, `{foreign}`, `{owner}`, `{backup}`
 * and `{foreign-backup}` stand for uuids; in answers `<string>`, `<int>`, `<bool>`, `<object>`, `<strings>` (an
 * object of strings) and `<strings[]>` for any value of that type.
 */
type Fixture = {
  name: string
  /** Columns of the server, of its owner and one of their SSH keys, and of its backup, before the call. */
  given?: Partial<Server>
  owner?: Partial<typeof users.$inferInsert>
  sshKey?: { fingerprint: string; publicKey: string }
  backup?: Partial<typeof backups.$inferInsert>
  /** The role of the calling node in an open transfer of the server. */
  transfer?: 'from' | 'to'
  method: string
  path: string
  body?: unknown
  status: number
  answer?: unknown
  /** Columns of the server after it. */
  leaves?: Partial<Server>
  /** Columns of the backup after it. */
  leavesBackup?: Record<string, unknown>
  records?: string[]
}

const directory = new URL('./wings/', import.meta.url)
const fixtures = readdirSync(directory)
  .filter((file) => file.endsWith('.json'))
  .toSorted()
  .map((file) => [file, JSON.parse(readFileSync(new URL(file, directory), 'utf8')) as Fixture] as const)

const world = useWorld()

async function openScene(fixture: Fixture) {
  const owner = await makeUser(world, fixture.owner)
  if (fixture.sshKey) {
    const key = { ...fixture.sshKey, userId: owner.id, name: 'Laptop' }
    await world.database.db.insert(sshKeys).values(key)
  }
  const node = await makeNode(world)
  const stands = fixture.transfer === 'to' ? await makeNode(world) : node
  const server = await makeServer(world, { owner, node: stands, installedAt: null, ...fixture.given })
  if (fixture.transfer) await makeTransfer(server, fixture.transfer === 'to' ? node : await makeNode(world))
  const foreign = await makeServer(world, { node: await makeNode(world) })
  const backup = await makeBackup(world, server, fixture.backup)
  const foreignBackup = await makeBackup(world, foreign, fixture.backup)
  const names: Record<string, string> = {
    server: server.uuid,
    foreign: foreign.uuid,
    owner: owner.uuid,
    backup: backup.uuid,
    'foreign-backup': foreignBackup.uuid,
  }
  const fill = (text: string) => text.replace(/\{([a-z-]+)\}/g, (whole, name: string) => names[name] ?? whole)
  return { node, server, backup, fill }
}

/** Inserts an open transfer of the server: the target counts it and holds an allocation for it. */
async function makeTransfer(server: Server, target: { id: number }) {
  const { db } = world.database
  const reserved = await makeAllocation(world, target, { serverId: server.id })
  await db
    .update(nodes)
    .set({ usedMemory: server.memory, usedDisk: server.disk })
    .where(eq(nodes.id, target.id))
  await db.insert(transfers).values({
    serverId: server.id,
    oldNodeId: server.nodeId,
    newNodeId: target.id,
    oldAllocationId: server.allocationId,
    newAllocationId: reserved.id,
  })
}

async function makeBackup(world: World, server: { id: number }, values: Fixture['backup'] = {}) {
  const [backup] = await world.database.db
    .insert(backups)
    .values({ serverId: server.id, name: 'Nightly', disk: 'wings', ...values })
    .returning()
  return single(backup ? [backup] : [])
}

/** Placeholders for any value of a type. */
const anyOf: Record<string, unknown> = {
  '<string>': expect.any(String),
  '<int>': expect.toSatisfy(Number.isInteger),
  '<bool>': expect.any(Boolean),
  '<object>': expect.toSatisfy(
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  ),
  '<strings>': expect.toSatisfy(
    (value) =>
      !Array.isArray(value) && Object.values(value as object).every((each) => typeof each === 'string'),
  ),
  '<strings[]>': expect.toSatisfy(
    (value) => Array.isArray(value) && value.every((each) => typeof each === 'string'),
  ),
}

function expected(value: unknown): unknown {
  if (typeof value === 'string') return anyOf[value] ?? value
  if (Array.isArray(value)) return value.map(expected)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, expected(member)]))
}

describe('the stock daemon', () => {
  it.each(fixtures)('%s', async (_file, fixture) => {
    const { node, server, backup, fill } = await openScene(fixture)
    const headers = {
      accept: 'application/vnd.pterodactyl.v1+json',
      'content-type': 'application/json',
      'user-agent': `Pterodactyl Wings/v1.13.3 (id:${node.daemonTokenId})`,
    }
    const raw = fixture.body === undefined ? {} : { raw: fill(JSON.stringify(fixture.body)) }
    const answer = await world.request(fixture.method, fill(fixture.path), {
      token: node.token,
      headers,
      ...raw,
    })
    expect([fixture.name, answer.status]).toEqual([fixture.name, fixture.status])
    if (fixture.answer)
      expect(answer.body).toMatchObject(expected(JSON.parse(fill(JSON.stringify(fixture.answer)))) as object)
    if (fixture.leaves) {
      const [row] = await world.database.db.select().from(servers).where(eq(servers.id, server.id))
      expect(row).toMatchObject(fixture.leaves)
    }
    if (fixture.leavesBackup) {
      const [row] = await world.database.db.select().from(backups).where(eq(backups.id, backup.id))
      expect(row).toMatchObject(fixture.leavesBackup)
    }
    if (fixture.records) expect(await world.events()).toEqual(fixture.records)
  })
})
