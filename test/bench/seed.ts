import { hashPassword } from '../../src/domain/auth/password-hash.ts'
import { importKeyRing } from '../../src/domain/secrets.ts'
import { openPostgres } from '../../src/platform/postgres.ts'
import {
  makeApplicationToken,
  makeClientToken,
  makeEgg,
  makeNode,
  makeServer,
  makeUser,
} from '../support/factories.ts'
import type { World } from '../support/world.ts'

const servers = 50
const logins = 20
export const benchPassword = 'correct horse battery'
const events = ['server:power.start', 'server:console.command', 'server:sftp.write']

/** Seeds one user with fifty servers on one node, and the activity its daemon reports. */
export async function seedBench(url: string) {
  const database = openPostgres(url, 4)
  const keys = await importKeyRing(`bench:${Buffer.alloc(32, 7).toString('base64')}`)
  const world = { database: { ...database, statements: [], url }, panel: { keys } } as unknown as World
  const owner = await makeUser(world)
  const node = await makeNode(world)
  const egg = await makeEgg(world)
  const uuids: string[] = []
  for (let at = 0; at < servers; at += 1) uuids.push((await makeServer(world, { owner, node, egg })).uuid)
  const clientToken = await makeClientToken(world, owner)
  const applicationToken = await makeApplicationToken(world)
  const names = await makeLogins(world)
  await database.close()
  let serial = 0
  const entries = (count: number) =>
    Array.from({ length: count }, () => {
      serial += 1
      return {
        user: owner.uuid,
        server: uuids[serial % uuids.length],
        event: events[serial % events.length],
        metadata: { command: `say ${serial}` },
        ip: '203.0.113.7',
        timestamp: new Date().toISOString().replace('Z', `${String(serial % 1_000_000).padStart(6, '0')}Z`),
      }
    })
  return { clientToken, applicationToken, nodeToken: node.token, uuid: uuids[0] ?? '', entries, names }
}

/** Makes users who sign in with `benchPassword`; returns their names. */
async function makeLogins(world: World): Promise<string[]> {
  const passwordHash = await hashPassword(benchPassword)
  const made = Array.from({ length: logins }, () => makeUser(world, { passwordHash }))
  return (await Promise.all(made)).map(({ username }) => username)
}
