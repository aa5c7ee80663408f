import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { eq } from 'drizzle-orm'
import { afterEach, expect, it } from 'vitest'
import { nodeHeartbeats } from '../../src/db/schema.ts'
import { jobHandlers } from '../../src/domain/jobs/handlers.ts'
import { makeApplicationToken, makeNode } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
const servers: Server[] = []
const dayMs = 86_400_000

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))))
})

const file = (name: string) =>
  readFileSync(join(import.meta.dirname, '..', 'support', 'certificates', `localhost.${name}`))
const endsAt = new Date(new X509Certificate(file('crt')).validTo)

/** Makes a node whose daemon answers with a certificate over TLS, and counts its connections. */
async function makeSecureNode() {
  const server = createServer({ cert: file('crt'), key: file('key') }, (_request, answer) =>
    answer.end('{"version":"1.12.0"}'),
  )
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return makeNode(world, { scheme: 'https', fqdn: 'localhost', daemonListen: port })
}

const check = (id: number, panel = world.panel) =>
  jobHandlers['check-nodes'](panel, { nodeIds: [id] }, { latenessSeconds: 0 } as never)
const knownOf = async (id: number) =>
  (await world.database.db.select().from(nodeHeartbeats).where(eq(nodeHeartbeats.id, id)))[0]
const request = async (path: string, method = 'GET', body?: object) =>
  (
    await world.request(method, `/api/application${path}`, {
      token: await makeApplicationToken(world),
      ...(body ? { body } : {}),
    })
  ).body
const concerns = async () =>
  (await request('/overview')).attributes.attention.map(({ id }: { id: string }) => id)

it('a certificate that ends soon is found, and seen again after an hour', async () => {
  world.clock.now = new Date(endsAt.getTime() - 10 * dayMs)
  const node = await makeSecureNode()
  await check(node.id)
  const readAt = world.clock.now
  expect(await knownOf(node.id)).toMatchObject({ certificateEndsAt: endsAt, certificateReadAt: readAt })
  const { attributes } = await request(`/nodes/${node.id}/heartbeat`)
  expect(new Date(attributes.certificate_ends_at)).toEqual(endsAt)
  expect(await concerns()).toContain('certificates_ending')
  world.clock.advance(1800)
  await check(node.id)
  expect((await knownOf(node.id))?.certificateReadAt).toEqual(readAt)
  world.clock.advance(1800)
  await check(node.id)
  expect((await knownOf(node.id))?.certificateReadAt).toEqual(world.clock.now)
  world.clock.now = new Date(endsAt.getTime() + 1000)
  expect(await concerns()).toContain('certificates_ended')
})

it('one with time left is read once a day, and forgotten when the node moves', async () => {
  world.clock.now = new Date(endsAt.getTime() - 30 * dayMs)
  const node = await makeSecureNode()
  await check(node.id)
  const readAt = world.clock.now
  world.clock.advance(23 * 3600)
  await check(node.id)
  expect((await knownOf(node.id))?.certificateReadAt).toEqual(readAt)
  world.clock.advance(3600)
  await check(node.id)
  expect((await knownOf(node.id))?.certificateReadAt).toEqual(world.clock.now)
  await request(`/nodes/${node.id}`, 'PATCH', { fqdn: 'other.example.test' })
  expect(await knownOf(node.id)).toMatchObject({ certificateEndsAt: null, certificateReadAt: null })
})

it('where certificates cannot be read, their end is unknown', async () => {
  const node = await makeSecureNode()
  await check(node.id, { ...world.panel, probeNode: null })
  expect(await knownOf(node.id)).toMatchObject({ certificateEndsAt: null, certificateReadAt: null })
  expect((await request(`/nodes/${node.id}/heartbeat`)).attributes.certificate_ends_at).toBeNull()
})
