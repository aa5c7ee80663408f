import { eq } from 'drizzle-orm'
import { single } from '../../src/db/database.ts'
import { activity, backups, jobs, servers, settings } from '../../src/db/schema.ts'
import { s3ObjectStore } from '../../src/adapters/objects.ts'
import { makeClientToken, makeNode, makeServer, makeSubuser, makeUser } from '../support/factories.ts'
import type { TestStore } from '../support/object-store.ts'
import type { StubDaemon } from '../support/stub-daemon.ts'
import type { RequestOptions, World } from '../support/world.ts'

export type BackupFixtures = Awaited<ReturnType<typeof createBackupFixtures>>

/** Creates a server with a limit of two backups on a node with a stub daemon, and functions that send requests. */
export async function createBackupFixtures(world: World, daemon: StubDaemon, limit = 2) {
  const owner = await makeUser(world)
  const node = await makeNode(world, { daemonListen: daemon.port })
  const server = await makeServer(world, { owner, node, backupLimit: limit })
  const token = await makeClientToken(world, owner)
  const { db } = world.database
  const at = (path = '') => `/api/client/servers/${server.uuid}/backups${path}`
  const send = (method: string, path = '', options: RequestOptions = {}) =>
    world.request(method, at(path), { token, ...options })
  daemon.respond(null)
  daemon.calls.length = 0
  return {
    owner,
    node,
    server,
    token,
    send,
    start: (body: unknown = {}, as = token) => send('POST', '', { body, token: as }),
    report: (backup: { uuid: string }, body: unknown, as = node.token) =>
      world.request('POST', `/api/remote/backups/${backup.uuid}`, { token: as, body }),
    tokenWith: async (permissions: string[]) => {
      const friend = await makeUser(world)
      await makeSubuser(world, server, friend, permissions)
      return makeClientToken(world, friend)
    },
    /** Inserts a backup, by default a successful one on the node. */
    makeBackup: async (values: Partial<typeof backups.$inferInsert> = {}) =>
      single(
        await db
          .insert(backups)
          .values({
            serverId: server.id,
            name: 'Nightly',
            disk: 'wings',
            isSuccessful: true,
            completedAt: world.clock.now,
            createdAt: world.clock.now,
            ...values,
          })
          .returning(),
      ),
    rows: () => db.select().from(backups).orderBy(backups.id),
    entries: () => db.select().from(activity).orderBy(activity.id),
    jobs: async (name: string) => (await db.select().from(jobs)).filter((job) => job.name === name),
    waiting: async () =>
      (await db.select().from(jobs).where(eq(jobs.state, 'waiting')).orderBy(jobs.name)).map(
        ({ name }) => name,
      ),
    statusNow: async () => (await db.select().from(servers).where(eq(servers.id, server.id)))[0]?.status,
    setStatus: (status: (typeof server)['status']) =>
      db.update(servers).set({ status }).where(eq(servers.id, server.id)),
    daemonCalls: () => daemon.calls.map(({ method, path, body }) => ({ method, path, body })),
    daemonPath: (path = '') => `/api/servers/${server.uuid}/backup${path}`,
  }
}

export const success = { checksum: 'abc', checksum_type: 'sha1', size: 4096, successful: true, parts: null }
export const failure = { checksum: '', checksum_type: '', size: 0, successful: false, parts: null }

/** Inserts settings. */
export const set = async (world: World, values: Record<string, unknown>) => {
  const rows = Object.entries(values).map(([key, value]) => ({ key, value }))
  await world.database.db.insert(settings).values(rows)
}

/** Replaces the object store of the world, also for its jobs. */
export function useStore(world: World, store: TestStore) {
  const objects = s3ObjectStore(store.options)
  Object.assign(world.services, { objects })
  Object.assign(world.panel, { objects })
  return objects
}
