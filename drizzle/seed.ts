import { randomBytes } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { eq } from 'drizzle-orm'
import { single } from '../src/db/database.ts'
import { allocations, eggs, eggVariables, locations, nodes, users } from '../src/db/schema.ts'
import { aclResources } from '../src/db/tables/api-keys.ts'
import type { Egg } from '../src/db/tables/eggs.ts'
import type { Node } from '../src/db/tables/nodes.ts'
import type { User } from '../src/db/tables/users.ts'
import { addApiKey } from '../src/domain/auth/api-keys.ts'
import { hashPassword } from '../src/domain/auth/password-hash.ts'
import { ensureNest } from '../src/domain/eggs/nests.ts'
import { seedEgg } from '../src/domain/eggs/shipped.ts'
import { tokenLocation } from '../src/domain/nodes/daemon-address.ts'
import { encrypt, randomText } from '../src/domain/secrets.ts'
import type { Panel, Tx } from '../src/panel.ts'
import { contentFolder } from '../src/platform/content-folders.ts'

const eggsDirectory = pathToFileURL(join(contentFolder('drizzle'), 'eggs/'))

export type SeededUser = { username: string; email: string; password: string; client_key: string }

export type KeptEgg = { id: number; name: string; nest: string }

export type SeededNode = { node: Node; tokenId: string; token: string }

/**
 * Imports the included eggs into their nests, and updates existing ones. Keeps and returns those that were edited,
 * unless `replacesEdited`.
 */
export async function seedEggs(
  panel: Panel,
  { replacesEdited = false }: { replacesEdited?: boolean } = {},
): Promise<{ kept: KeptEgg[] }> {
  const kept: KeptEgg[] = []
  const nestList = JSON.parse(await readFile(new URL('nests.json', eggsDirectory), 'utf8')) as {
    slug: string
    name: string
    description: string
  }[]
  const earlierChecksums = JSON.parse(
    await readFile(new URL('earlier-checksums.json', eggsDirectory), 'utf8'),
  ) as string[]
  const options = { replacesEdited, earlierChecksums }
  for (const { slug, name, description } of nestList) {
    const nest = await ensureNest(panel, { name, description, author: 'eggs@roost.example' })
    const folder = new URL(`${slug}/`, eggsDirectory)
    for (const file of (await readdir(fileURLToPath(folder))).toSorted()) {
      const document: unknown = JSON.parse(await readFile(new URL(basename(file), folder), 'utf8'))
      const { egg, isKept } = await seedEgg(panel, nest, document, options)
      if (isKept) kept.push({ id: egg.id, name: egg.name, nest: nest.name })
    }
  }
  return { kept }
}

/** Creates an administrator with a Client API key and an Application API key. */
export async function seedAdministrator(tx: Tx): Promise<SeededUser & { application_key: string }> {
  const { user, password } = await seedUser(tx, {
    username: 'admin',
    firstName: 'Ada',
    lastName: 'Admin',
    rootAdmin: true,
  })
  const acl = Object.fromEntries(aclResources.map((resource) => [resource, 3 as const]))
  const { key, secret } = await addApiKey(tx, user, {
    type: 'application',
    description: 'Created at the first start',
    acl,
  })
  return { ...(await withClientKey(tx, user, password)), application_key: key.identifier + secret }
}

/** Creates a user who is not an administrator, with a Client API key. */
export async function seedPlayer(panel: Panel): Promise<{ user: User; seeded: SeededUser }> {
  const { user, password } = await seedUser(panel, {
    username: 'player',
    firstName: 'Pat',
    lastName: 'Player',
    rootAdmin: false,
  })
  return { user, seeded: await withClientKey(panel, user, password) }
}

/** Creates a location and a node on this machine, whose daemon listens at `daemonPort`, with eleven allocations. */
export async function seedNode(panel: Panel, daemonPort: number): Promise<SeededNode> {
  const location = single(
    await panel.db.insert(locations).values({ short: 'local', long: 'This machine' }).returning(),
  )
  const uuid = crypto.randomUUID()
  const tokenId = randomText(16)
  const token = randomText(64)
  const node = single(
    await panel.db
      .insert(nodes)
      .values({
        uuid,
        name: 'local',
        description: 'The development daemon of this process.',
        locationId: location.id,
        fqdn: '127.0.0.1',
        scheme: 'http',
        memory: 16_384,
        disk: 102_400,
        daemonListen: daemonPort,
        daemonTokenId: tokenId,
        daemonToken: await encrypt(panel, token, tokenLocation({ uuid })),
      })
      .returning(),
  )
  const ports = Array.from({ length: 11 }, (_, index) => 25_565 + index)
  await panel.db.insert(allocations).values(ports.map((port) => ({ nodeId: node.id, ip: '127.0.0.1', port })))
  return { node, tokenId, token }
}

/** Returns the input of `createServer` for a server with the Demo egg, on the first allocation of the node. */
export async function demoServerInput(panel: Panel, node: Node, owner: User) {
  const egg: Egg = single(await panel.db.select().from(eggs).where(eq(eggs.name, 'Demo')))
  const variables = await panel.db.select().from(eggVariables).where(eq(eggVariables.eggId, egg.id))
  const [allocation] = await panel.db
    .select()
    .from(allocations)
    .where(eq(allocations.nodeId, node.id))
    .orderBy(allocations.port)
    .limit(1)
  return {
    name: 'Demo server',
    description: 'A small program that behaves like a game server.',
    user: owner.id,
    egg: egg.id,
    docker_image: Object.values(egg.dockerImages)[0] ?? '',
    startup: egg.startup,
    environment: Object.fromEntries(
      variables.map(({ envVariable, defaultValue }) => [envVariable, defaultValue]),
    ),
    limits: { memory: 512, swap: 0, disk: 1024, io: 500, cpu: 100 },
    feature_limits: { databases: 2, allocations: 3, backups: 3 },
    allocation: { default: allocation?.id ?? 0 },
  }
}

/** Addresses of the accounts that are seeded. */
export const seededEmails = ['admin', 'player'].map(seededEmail)

function seededEmail(username: string): string {
  return `${username}@roost.example`
}

async function seedUser(tx: Tx, profile: Pick<User, 'username' | 'firstName' | 'lastName' | 'rootAdmin'>) {
  const password = randomBytes(12).toString('base64url')
  const passwordHash = await hashPassword(password)
  const email = seededEmail(profile.username)
  const user = single(
    await tx.db
      .insert(users)
      .values({ ...profile, email, emailVerifiedAt: tx.now(), passwordHash })
      .returning(),
  )
  return { user, password }
}

async function withClientKey(tx: Tx, user: User, password: string): Promise<SeededUser> {
  const { key, secret } = await addApiKey(tx, user, {
    type: 'account',
    description: 'Created at the first start',
  })
  return { username: user.username, email: user.email, password, client_key: key.identifier + secret }
}
