import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { httpPasteService } from '../../src/adapters/paste.ts'
import { settings } from '../../src/db/schema.ts'
import { testEgress } from '../support/egress.ts'
import { makeClientToken, makeServer, makeSubuser, makeUser } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'
import { conflictsOf } from './conflicts.ts'

type Paste = { method: string; path: string; type: string; content: string | null }
type Reply = (response: ServerResponse) => unknown

const world = useWorld()
const pastes: Paste[] = []
let reply: Reply
let serviceUrl: string
let server: Awaited<ReturnType<typeof makeServer>>
let token: string

const json =
  (body: unknown, status = 200): Reply =>
  (response) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
const taken = json({ success: true, id: '8FlTowW', url: 'https://mclo.gs/8FlTowW', raw: 'x' })

const service = createServer((request, response) => {
  void (async () => {
    const form = new URLSearchParams(await text(request))
    pastes.push({
      method: request.method ?? '',
      path: request.url ?? '',
      type: request.headers['content-type'] ?? '',
      content: form.get('content'),
    })
    reply(response)
  })()
})
beforeAll(async () => {
  await once(service.listen(0, '127.0.0.1'), 'listening')
  serviceUrl = `http://127.0.0.1:${(service.address() as AddressInfo).port}`
})
afterAll(async () => {
  service.closeAllConnections()
  await new Promise((resolve) => service.close(resolve))
})

beforeEach(async () => {
  reply = taken
  pastes.length = 0
  const owner = await makeUser(world)
  server = await makeServer(world, { owner })
  token = await makeClientToken(world, owner)
  await set({ 'features.console_share': true, 'console_share.url': serviceUrl })
})

async function set(values: Record<string, unknown>): Promise<void> {
  await world.database.db.delete(settings)
  const rows = Object.entries(values).map(([key, value]) => ({ key, value }))
  if (rows.length > 0) await world.database.db.insert(settings).values(rows)
}

const share = (content: unknown, as = token) =>
  world.request('POST', `/api/client/servers/${server.uuid}/console/share`, { token: as, body: { content } })

const codeOf = ({ status, body }: { status: number; body: any }) => [status, body.errors[0].code]

describe('a shared log', () => {
  it('is published redacted, and its link goes to the caller alone', async () => {
    const log = 'bob[/203.0.113.9:51234] logged in\nrcon.password=hunter2 & caf\u00e9 \u{1f600}'
    const { status, body } = await share(log)
    expect([status, body]).toEqual([200, { url: 'https://mclo.gs/8FlTowW', expires_in: 86_400 }])
    expect(pastes).toEqual([
      {
        method: 'POST',
        path: '/1/log',
        type: 'application/x-www-form-urlencoded;charset=UTF-8',
        content: 'bob[/[address]:51234] logged in\nrcon.password=[redacted] & caf\u00e9 \u{1f600}',
      },
    ])
    expect(await world.events()).toEqual([])
  })

  it('may go to a service below a path', async () => {
    await set({ 'features.console_share': true, 'console_share.url': `${serviceUrl}/logs/` })
    expect((await share('x')).status).toBe(200)
    expect(pastes[0]?.path).toBe('/logs/1/log')
  })

  it('has at most 128 KiB in UTF-8', async () => {
    const most = 128 * 1024
    const refusal = async (content: unknown) => {
      world.clock.advance(61)
      const { status, body } = await share(content)
      const [entry] = body.errors ?? []
      return status === 200 ? 200 : [status, `${entry.meta?.source_field}: ${entry.meta?.rule}`]
    }
    expect(await refusal('x'.repeat(most))).toBe(200)
    expect(await refusal('\u001b'.repeat(most - 2) + '\u00e9')).toBe(200)
    expect(await refusal('x'.repeat(most + 1))).toEqual([422, 'content: max'])
    expect(await refusal('\u00e9'.repeat(most / 2) + 'x')).toEqual([422, 'content: max'])
    expect(await refusal(undefined)).toEqual([422, 'content: required'])
    expect(await refusal(' \n ')).toEqual([422, 'content: required'])
    expect(await refusal(['x'])).toEqual([422, 'content: string'])
    expect(pastes).toHaveLength(2)
    world.clock.advance(61)
    expect(codeOf(await share('x'.repeat(6 * most + 1024)))).toEqual([413, 'PayloadTooLargeHttpException'])
  })

  it('needs the permission to read the console', async () => {
    const friend = await makeUser(world)
    await makeSubuser(world, server, friend, ['control.console'])
    const member = await makeUser(world)
    await makeSubuser(world, server, member, ['websocket.connect'])
    const otherUser = await makeUser(world)
    expect(codeOf(await share('x', await makeClientToken(world, friend)))).toEqual([
      403,
      'AccessDeniedHttpException',
    ])
    expect((await share('x', await makeClientToken(world, otherUser))).status).toBe(404)
    expect((await share('x', await makeClientToken(world, member))).status).toBe(200)
  })

  it('is refused while sharing is switched off', async () => {
    for (const values of [{}, { 'features.console_share': true }, { 'console_share.url': serviceUrl }]) {
      await set(values)
      expect(codeOf(await share('x'))).toEqual([403, 'AccessDeniedHttpException'])
    }
    expect(pastes).toEqual([])
  })

  it('is refused in every state that conflicts', async () => {
    const route = ['POST', '/console/share', { content: 'x' }] as const
    for (const { state, caller, refused } of await conflictsOf(world, server, [route])) {
      expect(refused, `${state}, ${caller}`).toEqual(['POST /console/share'])
    }
    expect(pastes).toEqual([])
  })

  it('is one of three a minute of one person, on all servers, also at once', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => share('x')))
    expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([
      200,
      200,
      200,
      ...Array(7).fill(429),
    ])
    expect(pastes).toHaveLength(3)
    const refused = answers.find(({ status }) => status === 429)
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0)
    const owner = { id: server.ownerId }
    const other = await makeServer(world, { owner })
    const elsewhere = await world.request('POST', `/api/client/servers/${other.uuid}/console/share`, {
      token: await makeClientToken(world, owner),
      body: { content: 'x' },
    })
    expect(elsewhere.status).toBe(429)
    const friend = await makeUser(world)
    await makeSubuser(world, server, friend, ['websocket.connect'])
    expect((await share('x', await makeClientToken(world, friend))).status).toBe(200)
    world.clock.advance(61)
    expect((await share('x')).status).toBe(200)
  })
})

describe('a service for shared logs', () => {
  const link = (url: unknown) => json({ success: true, id: 'x', url })
  it.each<[string, Reply]>([
    ['refuses', json({ success: false, error: 'Required POST argument "content" is empty.' }, 400)],
    ['refuses with 200', json({ success: false, error: 'No.' })],
    ['fails', json({ success: true, url: 'https://mclo.gs/x' }, 500)],
    ['sends elsewhere', (response) => response.writeHead(302, { location: serviceUrl }).end()],
    ['gives no JSON', (response) => response.end('<html>')],
    ['gives nothing', (response) => response.end()],
    ['gives null', json(null)],
    ['gives no link', link(undefined)],
    ['gives a script as link', link('javascript:alert(1)')],
    ['gives a relative link', link('/8FlTowW')],
    ['gives an answer without end', (response) => response.end(`"${'x'.repeat(100_000)}"`)],
    ['hangs up', (response) => response.destroy()],
    ['never answers', () => undefined],
    ['never finishes', (response) => response.write('{"success":')],
  ])('that %s is answered with 503', async (_name, wrong) => {
    Object.assign(world.services, { pastes: httpPasteService(testEgress.fetch, 200) })
    reply = wrong
    const answer = await share('x')
    expect(codeOf(answer)).toEqual([503, 'ServiceUnavailableHttpException'])
    expect(pastes).toHaveLength(1)
    expect(await world.events()).toEqual([])
  })

  it('that is not there is answered with 503', async () => {
    await set({ 'features.console_share': true, 'console_share.url': 'http://127.0.0.1:1' })
    expect((await share('x')).status).toBe(503)
  })
})
