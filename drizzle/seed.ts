import { randomBytes } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { eq } from 'drizzle-orm'
import { only } from '../src/db/database.ts'
import { allocations, eggs, eggVariables, locations, nodes, users } from '../src/db/schema.ts'
import { aclResources } from '../src/db/tables/api-keys.ts'
import type { Egg } from '../src/db/tables/eggs.ts'
import type { Node } from '../src/db/tables/nodes.ts'
import type { User } from '../src/db/tables/users.ts'
import { addApiKey } from '../src/domain/api-keys.ts'
import { tokenPlace } from '../src/domain/daemon-address.ts'
import { importEgg } from '../src/domain/eggs/import.ts'
import { ensureNest } from '../src/domain/nests.ts'
import { hashPassword } from '../src/domain/password-hash.ts'
import { randomText, seal } from '../src/domain/secrets.ts'
import type { Panel } from '../src/panel.ts'

const eggsDirectory = new URL('./eggs/', import.meta.url)

export type SeededUser = { username: string; email: string; password: string; client_key: string }

export type SeededNode = { node: Node; tokenId: string; token: string }

/** Every egg that comes with the panel is stored in its nest; those that are there already are brought up to date. */
export async function seedEggs(panel: Panel): Promise<void> {
  const listed = JSON.parse(await readFile(new URL('nests.json', eggsDirectory), 'utf8')) as {
    slug: string
    name: string
    description: string
  }[]
  for (const { slug, name, description } of listed) {
    const nest = await ensureNest(panel, { name, description, author: 'eggs@roost.example' })
    const folder = new URL(`${slug}/`, eggsDirectory)
    for (const file of (await readdir(fileURLToPath(folder))).toSorted()) {
      await importEgg(panel, nest, JSON.parse(await readFile(new URL(basename(file), folder), 'utf8')))
    }
  }
}

/** An administrator with both kinds of key. */
export async function seedAdministrator(panel: Panel): Promise<SeededUser & { application_key: string }> {
  const { user, password } = await seedUser(panel, {
    username: 'admin',
    firstName: 'Ada',
    lastName: 'Admin',
    rootAdmin: true,
  })
  const acl = Object.fromEntries(aclResources.map((resource) => [resource, 3 as const]))
  const { key, secret } = await addApiKey(panel, user, {
    type: 'application',
    description: 'Made at the first start',
    acl,
  })
  return { ...(await withClientKey(panel, user, password)), application_key: key.identifier + secret }
}

/** A player who is no administrator. */
export async function seedPlayer(panel: Panel): Promise<{ user: User; seeded: SeededUser }> {
  const { user, password } = await seedUser(panel, {
    username: 'player',
    firstName: 'Pat',
    lastName: 'Player',
    rootAdmin: false,
  })
  return { user, seeded: await withClientKey(panel, user, password) }
}

/** A location with one node on this machine, whose daemon listens at `daemonPort`, and eleven allocations. */
export async function seedNode(panel: Panel, daemonPort: number): Promise<SeededNode> {
  const location = only(
    await panel.db.insert(locations).values({ short: 'local', long: 'This machine' }).returning(),
  )
  const uuid = crypto.randomUUID()
  const tokenId = randomText(16)
  const token = randomText(64)
  const node = only(
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
        daemonToken: await seal(panel, token, tokenPlace({ uuid })),
      })
      .returning(),
  )
  const ports = Array.from({ length: 11 }, (_, at) => 25_565 + at)
  await panel.db.insert(allocations).values(ports.map((port) => ({ nodeId: node.id, ip: '127.0.0.1', port })))
  return { node, tokenId, token }
}

/** What `createServer` needs to make a server of the Demo egg on the first free allocation of the node. */
export async function demoServerInput(panel: Panel, node: Node, owner: User) {
  const egg: Egg = only(await panel.db.select().from(eggs).where(eq(eggs.name, 'Demo')))
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

async function seedUser(
  panel: Panel,
  person: Pick<User, 'username' | 'firstName' | 'lastName' | 'rootAdmin'>,
) {
  const password = randomBytes(12).toString('base64url')
  const passwordHash = await hashPassword(password)
  const email = `${person.username}@roost.example`
  const user = only(
    await panel.db
      .insert(users)
      .values({ ...person, email, passwordHash })
      .returning(),
  )
  return { user, password }
}

async function withClientKey(panel: Panel, user: User, password: string): Promise<SeededUser> {
  const { key, secret } = await addApiKey(panel, user, {
    type: 'account',
    description: 'Made at the first start',
  })
  return { username: user.username, email: user.email, password, client_key: key.identifier + secret }
}
