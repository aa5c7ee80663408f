import { sql } from 'drizzle-orm'
import { single } from '../../src/db/database.ts'
import type { User } from '../../src/db/tables/users.ts'
import * as tables from '../../src/db/schema.ts'
import { type Acl, aclResources } from '../../src/db/tables/api-keys.ts'
import { completeAcl } from '../../src/domain/auth/access-levels.ts'
import { digest, randomText, encrypt } from '../../src/domain/secrets.ts'
import type { World } from './world.ts'

type Insert<T extends { $inferInsert: object }> = Partial<T['$inferInsert']>

let serial = 0
const next = () => (serial += 1)

/** Restarts the numbers in names and ports from 1. */
export const restartSerialNumbers = () => void (serial = 0)

/** All levels on everything. */
export const fullAcl: Acl = Object.fromEntries(aclResources.map((resource) => [resource, 3]))

/** A password, and a hash of it that takes a millisecond: a hash carries its parameters. */
export const known = {
  password: 'horse',
  passwordHash: 'scrypt$1024$8$1$AAAAAAAAAAAAAAAAAAAAAA$4LFzhcmdiN8-mIxXQMRb7t78vEcjLC52eAQGe0eG8Pw',
}

/** Makes an account, by default one that is not an administrator. */
export async function makeUser(world: World, values: Insert<typeof tables.users> = {}) {
  const n = next()
  return single(
    await world.database.db
      .insert(tables.users)
      .values({
        username: `user${n}`,
        email: `user${n}@example.test`,
        firstName: 'Uma',
        lastName: `No. ${n}`,
        emailVerifiedAt: world.clock.now,
        ...values,
      })
      .returning(),
  )
}

/** Makes a key of the account, which was just used; `token` is the whole bearer token. */
export async function makeKey(
  world: World,
  user: { id: number },
  values: Insert<typeof tables.apiKeys> & { type: 'account' | 'application' },
) {
  const identifier = (values.type === 'account' ? 'ptlc_' : 'ptla_') + randomText(11)
  const secret = randomText(32)
  const row = single(
    await world.database.db
      .insert(tables.apiKeys)
      .values({
        userId: user.id,
        identifier,
        secretHash: digest(secret),
        lastUsedAt: world.clock.now,
        ...values,
      })
      .returning(),
  )
  return { row, token: identifier + secret }
}

/** Makes a role with these levels. */
export async function makeRole(world: World, acl: Acl, values: Partial<Insert<typeof tables.roles>> = {}) {
  const row = { name: `Role ${next()}`, acl: completeAcl(acl), ...values }
  return single(await world.database.db.insert(tables.roles).values(row).returning())
}

/** Makes an administrator with a role of these levels. */
export const makeRoleHolder = async (world: World, acl: Acl, values: Insert<typeof tables.users> = {}) =>
  makeUser(world, { roleId: (await makeRole(world, acl)).id, ...values })

/** Makes an Application key with these levels (by default all) of a new administrator; returns its token. */
export async function makeApplicationToken(world: World, acl: Acl = fullAcl): Promise<string> {
  const admin = await makeUser(world, { rootAdmin: true })
  return (await makeKey(world, admin, { type: 'application', acl })).token
}

/** Makes a Client API key of the account; returns its token. */
export const makeClientToken = async (world: World, user: { id: number }) =>
  (await makeKey(world, user, { type: 'account' })).token

/** Sets the regions, by name with their origins. */
export async function makeRegions(world: World, endpoints: Record<string, string>): Promise<void> {
  await world.database.db
    .insert(tables.settings)
    .values({ key: 'regions.endpoints', value: endpoints })
    .onConflictDoUpdate({ target: tables.settings.key, set: { value: endpoints } })
}

/** Makes a mount that these eggs and nodes allow, and that these servers have. */
export async function makeMount(
  world: World,
  members: { eggs?: number[]; nodes?: number[]; servers?: number[] } = {},
  values: Insert<typeof tables.mounts> = {},
) {
  const { db } = world.database
  const n = next()
  const row = { name: `Mount ${n}`, source: `/mnt/shared/${n}`, target: `/shared/${n}`, ...values }
  const mount = single(await db.insert(tables.mounts).values(row).returning())
  const mountId = mount.id
  for (const eggId of members.eggs ?? []) await db.insert(tables.eggMount).values({ eggId, mountId })
  for (const nodeId of members.nodes ?? []) await db.insert(tables.mountNode).values({ nodeId, mountId })
  for (const serverId of members.servers ?? [])
    await db.insert(tables.mountServer).values({ serverId, mountId })
  return mount
}

/** Makes an announcement for everyone, or for those with servers in these places. */
export async function makeAnnouncement(
  world: World,
  places: { locations?: number[]; nodes?: number[] } | null = null,
  values: Insert<typeof tables.announcements> = {},
) {
  const { db } = world.database
  const row = {
    title: `Announcement ${next()}`,
    audience: places ? ('servers' as const) : ('everyone' as const),
    startsAt: new Date(world.clock.now.getTime() - 60_000),
    ...values,
  }
  const announcement = single(await db.insert(tables.announcements).values(row).returning())
  const announcementId = announcement.id
  for (const locationId of places?.locations ?? [])
    await db.insert(tables.announcementLocation).values({ announcementId, locationId })
  for (const nodeId of places?.nodes ?? [])
    await db.insert(tables.announcementNode).values({ announcementId, nodeId })
  return announcement
}

/** Makes an unread notification of a user about a server. */
export async function makeNotification(
  world: World,
  server: { id: number },
  user: { id: number },
  values: Partial<Insert<typeof tables.notifications>> = {},
) {
  const row = {
    kind: 'backup.failed' as const,
    subject: String(next()),
    createdAt: world.clock.now,
    ...values,
  }
  return single(
    await world.database.db
      .insert(tables.notifications)
      .values({ serverId: server.id, userId: user.id, ...row })
      .returning(),
  )
}

export async function makeLocation(world: World, values: Insert<typeof tables.locations> = {}) {
  return single(
    await world.database.db
      .insert(tables.locations)
      .values({ short: `loc${next()}`, ...values })
      .returning(),
  )
}

/** Makes a node with its daemon at `fqdn`:`daemonListen`; `token` is the bearer token of that daemon. */
export async function makeNode(world: World, values: Insert<typeof tables.nodes> = {}) {
  const locationId = values.locationId ?? (await makeLocation(world)).id
  const uuid = values.uuid ?? crypto.randomUUID()
  const secret = randomText(64)
  const tokenId = randomText(16)
  const node = single(
    await world.database.db
      .insert(tables.nodes)
      .values({
        name: `node-${next()}`,
        fqdn: '127.0.0.1',
        scheme: 'http',
        daemonListen: 1,
        memory: 65_536,
        disk: 1_000_000,
        ...values,
        uuid,
        locationId,
        daemonTokenId: tokenId,
        daemonToken: await encrypt(world.panel, secret, {
          table: 'nodes',
          column: 'daemon_token',
          row: uuid,
        }),
      })
      .returning(),
  )
  return { ...node, token: `${tokenId}.${secret}`, secret }
}

export async function makeAllocation(
  world: World,
  node: { id: number },
  values: Insert<typeof tables.allocations> = {},
) {
  return single(
    await world.database.db
      .insert(tables.allocations)
      .values({ nodeId: node.id, ip: '198.51.100.7', port: 20_000 + next(), ...values })
      .returning(),
  )
}

/** Makes an egg with one variable (`MOTD`, editable) in a nest of its own. */
export async function makeEgg(world: World, values: Insert<typeof tables.eggs> = {}) {
  const { db } = world.database
  const nestId =
    values.nestId ??
    single(
      await db
        .insert(tables.nests)
        .values({ name: `Nest ${next()}`, author: 'eggs@example.test' })
        .returning(),
    ).id
  const egg = single(
    await db
      .insert(tables.eggs)
      .values({
        author: 'eggs@example.test',
        name: `Egg ${next()}`,
        dockerImages: { Node: 'node:24-alpine' },
        startup: 'node server.mjs --motd "{{MOTD}}"',
        configFiles: {},
        configStartup: { done: 'ready' },
        configLogs: {},
        configStop: 'stop',
        scriptInstall: 'echo installed',
        ...values,
        nestId,
      })
      .returning(),
  )
  await db.insert(tables.eggVariables).values({
    eggId: egg.id,
    name: 'Message',
    envVariable: 'MOTD',
    defaultValue: 'Hello',
    userViewable: true,
    userEditable: true,
    rules: 'required|string|max:64',
  })
  return egg
}

/** Makes an installed server with one allocation, and the rows it needs where they are not given. */
export async function makeServer(
  world: World,
  values: Insert<typeof tables.servers> & {
    owner?: { id: number }
    node?: { id: number }
    egg?: { id: number }
  } = {},
) {
  const { owner, node, egg, ...columns } = values
  const nodeId = columns.nodeId ?? node?.id ?? (await makeNode(world)).id
  const ownerId = columns.ownerId ?? owner?.id ?? (await makeUser(world)).id
  const eggId = columns.eggId ?? egg?.id ?? (await makeEgg(world)).id
  const allocation = await makeAllocation(world, { id: nodeId })
  const uuid = columns.uuid ?? crypto.randomUUID()
  return world.database.transaction(async (db) => {
    const server = single(
      await db
        .insert(tables.servers)
        .values({
          name: `Server ${next()}`,
          memory: 512,
          swap: 0,
          disk: 1024,
          io: 500,
          cpu: 100,
          startup: 'node server.mjs --motd "{{MOTD}}"',
          image: 'node:24-alpine',
          installedAt: new Date(),
          ...columns,
          nodeId,
          ownerId,
          eggId,
          uuid,
          uuidShort: uuid.slice(0, 8),
          allocationId: allocation.id,
        })
        .returning(),
    )
    await db
      .update(tables.allocations)
      .set({ serverId: server.id })
      .where(sql`${tables.allocations.id} = ${allocation.id}`)
    await db
      .update(tables.nodes)
      .set({
        usedMemory: sql`${tables.nodes.usedMemory} + ${server.memory}`,
        usedDisk: sql`${tables.nodes.usedDisk} + ${server.disk}`,
      })
      .where(sql`${tables.nodes.id} = ${nodeId}`)
    return server
  })
}

/** Makes the account a subuser with these permissions. */
export async function makeSubuser(
  world: World,
  server: { id: number },
  user: { id: number },
  permissions: string[],
) {
  return single(
    await world.database.db
      .insert(tables.subusers)
      .values({ serverId: server.id, userId: user.id, permissions })
      .returning(),
  )
}

/** Builds the body that changes a user: with the fields that every change sends. */
export const changeOf = ({ email, username, firstName, lastName }: User, changes: object) => ({
  email,
  username,
  first_name: firstName,
  last_name: lastName,
  ...changes,
})

/** Makes a folder of the user's list of servers. */
export async function makeServerFolder(
  world: World,
  user: { id: number },
  values: Insert<typeof tables.serverFolders> = {},
) {
  const name = values.name ?? `Folder ${next()}`
  return single(
    await world.database.db
      .insert(tables.serverFolders)
      .values({ userId: user.id, ...values, name })
      .returning(),
  )
}
