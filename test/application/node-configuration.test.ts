import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { eq } from 'drizzle-orm'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { single } from '../../src/db/database.ts'
import { jobs, nodes } from '../../src/db/schema.ts'
import { decrypt } from '../../src/domain/secrets.ts'
import { makeApplicationToken, makeLocation, makeNode, makeRegions } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
let token: string

beforeEach(async () => {
  token = await makeApplicationToken(world)
})

const path = '/api/application/nodes'
const get = (at: string) => world.request('GET', `${path}${at}`, { token })
const change = (id: number, body: unknown) => world.request('PATCH', `${path}/${id}`, { token, body })
const row = async (id: number) => single(await world.database.db.select().from(nodes).where(eq(nodes.id, id)))
const waitingJobs = () => world.database.db.select().from(jobs).where(eq(jobs.state, 'waiting'))

describe('the configuration of a daemon', () => {
  it('has exactly what the daemon reads', async () => {
    const node = await makeNode(world, { fqdn: 'AMS.example.test', scheme: 'https', daemonListen: 8443 })
    let answer: any
    expect(await world.countStatements(async () => (answer = await get(`/${node.id}/configuration`)))).toBe(2)
    expect(answer.body).toEqual({
      debug: false,
      uuid: node.uuid,
      token_id: node.daemonTokenId,
      token: node.secret,
      api: {
        host: '0.0.0.0',
        port: 8443,
        ssl: {
          enabled: true,
          cert: '/etc/letsencrypt/live/ams.example.test/fullchain.pem',
          key: '/etc/letsencrypt/live/ams.example.test/privkey.pem',
        },
        upload_limit: 100,
      },
      system: { data: '/var/lib/pterodactyl/volumes', sftp: { bind_port: 2022 } },
      allowed_mounts: [],
      remote: 'http://panel.test',
    })
  })

  it('leaves TLS to a proxy', async () => {
    const node = await makeNode(world, { scheme: 'https', behindProxy: true })
    expect((await get(`/${node.id}/configuration`)).body.api.ssl.enabled).toBe(false)
  })

  it('points to the regional endpoint, and lets pages of the panel in', async () => {
    await makeRegions(world, { eu: 'https://eu.panel.test' })
    const location = await makeLocation(world, { region: 'eu' })
    const node = await makeNode(world, { locationId: location.id })
    expect((await get(`/${node.id}/configuration`)).body).toMatchObject({
      remote: 'https://eu.panel.test',
      allowed_origins: ['http://panel.test'],
    })
    const elsewhere = await makeLocation(world, { region: 'mars' })
    const far = await makeNode(world, { locationId: elsewhere.id })
    const { body } = await get(`/${far.id}/configuration`)
    expect(body.remote).toBe('http://panel.test')
    expect(body).not.toHaveProperty('allowed_origins')
  })
})

describe('a change that the daemon must know', () => {
  type Call = { authorization: string | undefined; path: string | undefined; body: any }
  const closing: (() => Promise<unknown>)[] = []
  afterEach(async () => {
    await Promise.all(closing.splice(0).map((close) => close()))
  })

  /** Starts a daemon that accepts the secrets for which `accepts` holds, and runs `meanwhile` before it responds. */
  async function startDaemon(
    accepts: (secret: string) => boolean = () => true,
    meanwhile: () => Promise<unknown> = async () => undefined,
  ) {
    const calls: Call[] = []
    const http = createServer((request, response) => {
      let text = ''
      request.on('data', (chunk: Buffer) => (text += chunk.toString()))
      request.on('end', async () => {
        const { authorization } = request.headers
        calls.push({ authorization, path: request.url, body: JSON.parse(text) })
        await meanwhile()
        response.writeHead(accepts(authorization?.slice('Bearer '.length) ?? '') ? 200 : 403, {
          'content-type': 'application/json',
        })
        response.end('{"applied":true}')
      })
    })
    http.listen(0, '127.0.0.1')
    await once(http, 'listening')
    closing.push(async () => {
      http.closeAllConnections()
      await new Promise((resolve) => http.close(resolve))
    })
    return { calls, port: (http.address() as AddressInfo).port }
  }

  it('is left to a job when the daemon does not answer', async () => {
    const node = await makeNode(world)
    expect((await change(node.id, { upload_size: 7 })).status).toBe(200)
    expect((await change(node.id, { upload_size: 8 })).status).toBe(200)
    expect(await waitingJobs()).toMatchObject([
      { name: 'configure-node', payload: { nodeId: node.id }, key: `configure-node:${node.id}` },
    ])
    const daemon = await startDaemon()
    await world.database.db.update(nodes).set({ daemonListen: daemon.port }).where(eq(nodes.id, node.id))
    world.clock.advance(60)
    await world.runJobs()
    expect(daemon.calls).toMatchObject([{ path: '/api/update', body: { api: { upload_limit: 8 } } }])
    expect(await waitingJobs()).toEqual([])
  })

  it('is answered with `meta.daemon: "unreachable"` when the daemon does not answer, and only then', async () => {
    const node = await makeNode(world)
    const away = await change(node.id, { upload_size: 7, memory: 4096 })
    expect([away.status, away.body.meta]).toEqual([200, { daemon: 'unreachable' }])
    expect(away.body.attributes).toMatchObject({ upload_size: 7, memory: 4096 })
    // The daemon is not told of what does not concern it.
    expect((await change(node.id, { memory: 2048 })).body).not.toHaveProperty('meta')
    const daemon = await startDaemon()
    await world.database.db.update(nodes).set({ daemonListen: daemon.port }).where(eq(nodes.id, node.id))
    expect((await change(node.id, { upload_size: 8 })).body).not.toHaveProperty('meta')
    expect(daemon.calls).toHaveLength(1)
  })

  it('is told where and to whom the daemon still listens', async () => {
    const daemon = await startDaemon()
    const node = await makeNode(world, { daemonListen: daemon.port })
    const { status, body, text } = await change(node.id, {
      daemonListen: 9,
      fqdn: 'new.example.test',
      reset_secret: true,
    })
    expect([status, body.attributes.daemon_listen]).toEqual([200, 9])
    const after = await row(node.id)
    expect(text).not.toContain(after.daemonTokenId)
    expect(daemon.calls).toEqual([
      {
        authorization: `Bearer ${node.secret}`,
        path: '/api/update',
        body: (await get(`/${node.id}/configuration`)).body,
      },
    ])
    expect(daemon.calls[0]?.body.token).not.toBe(node.secret)
    expect(await waitingJobs()).toEqual([])
    expect(after).toMatchObject({
      previousTokenId: node.daemonTokenId,
      previousTokenExpiresAt: null,
    })
    const place = { table: 'nodes', column: 'previous_token', row: node.uuid } as const
    expect(await decrypt(world.panel, after.previousToken ?? '', place)).toBe(node.secret)
  })

  it('reaches a daemon by the secret before a reset, then by the new one', async () => {
    const node = await makeNode(world)
    await change(node.id, { reset_secret: true })
    const secret = (await get(`/${node.id}/configuration`)).body.token
    const daemon = await startDaemon((presented) => presented === secret)
    await world.database.db.update(nodes).set({ daemonListen: daemon.port }).where(eq(nodes.id, node.id))
    world.clock.advance(60)
    await world.runJobs()
    expect(daemon.calls.map((call) => call.authorization)).toEqual([
      `Bearer ${node.secret}`,
      `Bearer ${secret}`,
    ])
    expect(await waitingJobs()).toEqual([])
    const pair = `${(await row(node.id)).daemonTokenId}.${secret}`
    expect((await world.request('GET', '/api/remote/servers', { token: pair })).status).toBe(200)
    expect((await row(node.id)).previousToken).toBeNull()
    await change(node.id, { upload_size: 9 })
    expect(daemon.calls.slice(2).map((call) => call.authorization)).toEqual([`Bearer ${secret}`])
  })

  it('that overtakes another is what the daemon has in the end', async () => {
    const later = [8]
    const daemon = await startDaemon(undefined, async () => {
      for (const size of later.splice(0)) await change(node.id, { upload_size: size })
    })
    const node = await makeNode(world, { daemonListen: daemon.port })
    await change(node.id, { upload_size: 7 })
    expect(daemon.calls.map((call) => call.body.api.upload_limit)).toEqual([7, 8, 8])
    expect(await waitingJobs()).toEqual([])
  })

  it('is nothing that only the panel uses', async () => {
    const daemon = await startDaemon()
    const node = await makeNode(world, { daemonListen: daemon.port })
    for (const input of [{ memory: 9 }, { name: 'other' }, { reset_secret: 1 }, { reset_secret: 'true' }])
      expect((await change(node.id, input)).status).toBe(200)
    expect(daemon.calls).toEqual([])
    expect((await row(node.id)).daemonTokenId).toBe(node.daemonTokenId)
    expect(await world.database.db.select().from(jobs)).toEqual([])
  })

  it('may be a move to a place with another endpoint', async () => {
    const daemon = await startDaemon()
    const node = await makeNode(world, { daemonListen: daemon.port })
    await makeRegions(world, { eu: 'https://eu.panel.test' })
    const { id } = await makeLocation(world, { region: 'eu' })
    await change(node.id, { location_id: id })
    expect(daemon.calls.map((call) => call.body.remote)).toEqual(['https://eu.panel.test'])
  })
})
