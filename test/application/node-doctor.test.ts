import { readFileSync } from 'node:fs'
import { createServer as createHttps } from 'node:https'
import type { AddressInfo, Server } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { makeApplicationToken, makeNode } from '../support/factories.ts'
import { useStubDaemon } from '../support/stub-daemon.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
const daemon = useStubDaemon()
const servers: Server[] = []
let token: string

beforeEach(async () => {
  token = await makeApplicationToken(world)
})
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))))
})

const listen = async (server: Server) => {
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

/** Starts a daemon behind TLS with one of the certificates of the tests. */
const secureDaemon = (name: string) => {
  const file = (ending: string) =>
    readFileSync(join(import.meta.dirname, '..', 'support', 'certificates', `${name}.${ending}`))
  return listen(
    createHttps({ cert: file('crt'), key: file('key') }, (_request, response) =>
      response.end('{"version":"1.12.0"}'),
    ),
  )
}

/** Returns the checks of a node by their id. */
async function diagnose(values: Parameters<typeof makeNode>[1]) {
  const node = await makeNode(world, values)
  const { status, body } = await world.request('GET', `/api/application/nodes/${node.id}/doctor`, { token })
  expect(status).toBe(200)
  expect(body.attributes.node_id).toBe(node.id)
  const checks = Object.fromEntries(body.attributes.checks.map((check: any) => [check.id, check]))
  const { is_healthy: isHealthy, addresses } = body.attributes
  // Whatever is wrong comes with what to do.
  for (const check of body.attributes.checks) if (check.state === 'failed') expect(check.advice).toBeTruthy()
  return {
    isHealthy,
    addresses,
    checks,
    states: Object.fromEntries(body.attributes.checks.map((c: any) => [c.id, c.state])),
  }
}

describe('the doctor of a node', () => {
  it('finds nothing wrong with a node that answers', async () => {
    daemon.respond({ json: { version: '1.12.3' } })
    const { isHealthy, addresses, states, checks } = await diagnose({ daemonListen: daemon.port })
    expect(states).toEqual({
      dns: 'ok',
      port: 'ok',
      certificate: 'skipped',
      answer: 'ok',
      token: 'ok',
      version: 'ok',
      clock: 'ok',
      browser: 'unknown',
    })
    expect(isHealthy).toBe(true)
    expect(addresses).toEqual(['127.0.0.1'])
    expect(checks.browser.url).toBe(`http://127.0.0.1:${daemon.port}/api/system`)
  })

  it('finds a name without an address', async () => {
    const { isHealthy, states } = await diagnose({ fqdn: 'nowhere.invalid' })
    expect(states).toMatchObject({ dns: 'failed', port: 'skipped', answer: 'skipped', token: 'skipped' })
    expect(isHealthy).toBe(false)
  })

  it('names an address that the panel does not call', async () => {
    const { states, checks } = await diagnose({ fqdn: '169.254.169.254' })
    expect(states).toMatchObject({ dns: 'failed', port: 'skipped' })
    expect(checks.dns.code).toBe('dns.refused')
  })

  it('finds a closed port', async () => {
    const { states, checks } = await diagnose({ daemonListen: 1 })
    expect(states).toMatchObject({ dns: 'ok', port: 'failed', answer: 'skipped' })
    expect(checks.port.advice).toContain('systemctl status wings')
  })

  it.each([
    ['expired', 'localhost', 'expired on 2021-01-01'],
    ['other', 'localhost', 'for DNS:other.test, not for localhost'],
    ['localhost', 'localhost', 'not trusted'],
  ])('finds a certificate that is not valid: %s', async (name, fqdn, meaning) => {
    const { states, checks } = await diagnose({
      daemonListen: await secureDaemon(name),
      fqdn,
      scheme: 'https',
    })
    expect(states).toMatchObject({ port: 'ok', certificate: 'failed', answer: 'skipped' })
    expect(checks.certificate.meaning).toContain(meaning)
  })

  it('finds a daemon that speaks plain HTTP under https', async () => {
    const { states } = await diagnose({ daemonListen: daemon.port, fqdn: 'localhost', scheme: 'https' })
    expect(states).toMatchObject({ port: 'ok', certificate: 'failed', answer: 'failed' })
  })

  it.each([401, 403])('finds a wrong token: %d', async (status) => {
    daemon.respond({ status, json: { error: 'no' } })
    const { states, checks } = await diagnose({ daemonListen: daemon.port })
    expect(states).toMatchObject({ answer: 'ok', token: 'failed', version: 'skipped' })
    expect(checks.token.meaning).toContain(String(status))
  })

  it('finds a daemon that accepts and is silent', async () => {
    Object.assign(world.services.config, { daemonTimeoutMs: 300 })
    daemon.respond({ hang: true })
    const { states } = await diagnose({ daemonListen: daemon.port })
    expect(states).toMatchObject({ port: 'ok', answer: 'failed', token: 'skipped' })
  })

  it.each([
    [-20, 'warning', 'behind'],
    [-3600, 'failed', 'behind'],
    [90, 'failed', 'ahead of'],
  ])('finds a clock that is %d seconds off', async (offset, state, direction) => {
    const date = new Date(world.clock.now.getTime() + offset * 1000).toUTCString()
    daemon.respond({ json: { version: '1.12.0' }, headers: { date } })
    const { checks } = await diagnose({ daemonListen: daemon.port })
    expect(checks.clock).toMatchObject({ state, meaning: expect.stringContaining(direction) })
  })

  it.each([
    ['1.11.13', 'warning'],
    ['1.12.0', 'ok'],
    ['v2.0.0', 'ok'],
    [undefined, 'warning'],
  ])('judges the version %s', async (version, state) => {
    daemon.respond({ json: { version } })
    expect((await diagnose({ daemonListen: daemon.port })).states.version).toBe(state)
  })

  it('finds a node whose answers a page under HTTPS may not read', async () => {
    Object.assign(world.services.config, { url: 'https://panel.test' })
    expect((await diagnose({ daemonListen: daemon.port })).states.browser).toBe('failed')
  })

  it('says what is known where the platform cannot probe', async () => {
    Object.assign(world.services, { probeNode: null })
    expect((await diagnose({ fqdn: 'nowhere.invalid' })).states).toMatchObject({ dns: 'failed' })
    expect((await diagnose({ daemonListen: 1 })).states).toMatchObject({ dns: 'unknown', port: 'failed' })
    const port = await secureDaemon('other')
    const secure = await diagnose({ daemonListen: port, fqdn: 'localhost', scheme: 'https' })
    expect(secure.states).toMatchObject({ port: 'ok', certificate: 'failed' })
  })
})
