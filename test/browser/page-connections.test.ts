import { beforeEach, describe, expect, it } from 'vitest'
import { hashPassword } from '../../src/domain/auth/password-hash.ts'
import { type Browser, openBrowser } from '../support/browser.ts'
import { makeNode, makeRole, makeServer, makeSubuser, makeUser } from '../support/factories.ts'
import { cheapPasswords, useWorld } from '../support/world.ts'
import { directivesOf, nonceIn } from './page-policy.ts'

const world = useWorld()
const password = 'correct horse battery'
let browser: Browser

beforeEach(async () => {
  browser = await openBrowser(world)
})

async function signInAs(values: Parameters<typeof makeUser>[1] = {}) {
  const user = await makeUser(world, {
    passwordHash: await hashPassword(password, cheapPasswords),
    ...values,
  })
  const { status } = await browser.request('POST', '/auth/login', { user: user.username, password })
  expect(status).toBe(200)
  return user
}

describe('the connections of a page', () => {
  const connections = async () => directivesOf(await browser.request('GET', '/')).get('connect-src')
  const nodeAt = (fqdn: string, values: object = {}) =>
    makeNode(world, { fqdn, scheme: 'https', daemonListen: 8443, ...values })
  const serverOn = async (owner: { id: number }, fqdn: string, values?: object) => {
    const node = await nodeAt(fqdn, values)
    return makeServer(world, { owner, node } as never)
  }

  it('FE-2: are the daemons of the servers that the user owns or is a subuser of', async () => {
    const user = await signInAs()
    expect(await connections()).toEqual(["'self'"])
    await serverOn(user, 'fra.example.test')
    await serverOn(user, '127.0.0.1', { scheme: 'http', daemonListen: 8080 })
    const shared = await serverOn(await makeUser(world), 'ams.example.test')
    await makeSubuser(world, shared, user, [])
    await serverOn(await makeUser(world), 'foreign.example.test')
    const [self, ...others] = (await connections()) ?? []
    expect(self).toBe("'self'")
    expect(others.toSorted()).toEqual([
      'http://127.0.0.1:8080',
      'https://ams.example.test:8443',
      'https://fra.example.test:8443',
      'ws://127.0.0.1:8080',
      'wss://ams.example.test:8443',
      'wss://fra.example.test:8443',
    ])
  })

  it('are all daemons for administrators, each once', async () => {
    await signInAs({ rootAdmin: true })
    const node = await nodeAt('fra.example.test')
    await makeServer(world, { node })
    await makeServer(world, { node })
    expect(await connections()).toEqual([
      "'self'",
      'https://fra.example.test:8443',
      'wss://fra.example.test:8443',
    ])
  })

  it('FE-2: are named one by one up to sixty daemons, and are all secure addresses beyond', async () => {
    await signInAs({ rootAdmin: true })
    const { locationId } = await nodeAt('n0.example.test')
    for (let at = 1; at < 60; at += 1) await nodeAt(`n${at}.example.test`, { locationId })
    expect(await connections()).toHaveLength(1 + 2 * 60)
    await nodeAt('n60.example.test', { locationId })
    expect(await connections()).toEqual(["'self'", 'wss:', 'https:'])
    const plain = await nodeAt('n61.example.test', { locationId, scheme: 'http' })
    const page = await browser.request('GET', `/admin/nodes/${plain.id}`)
    expect(directivesOf(page).get('connect-src')).toContain('http://n61.example.test:8443')
  })

  it('FE-2: are all daemons for a role that reads nodes, and for no other', async () => {
    await nodeAt('fra.example.test')
    const { id: roleId } = await makeRole(world, { nodes: 1 })
    await signInAs({ roleId })
    expect(await connections()).toContain('https://fra.example.test:8443')
    await browser.request('POST', '/auth/logout')
    await signInAs({ roleId: (await makeRole(world, { servers: 3 })).id })
    expect(await connections()).toEqual(["'self'"])
  })

  it.each([
    '[2001:db8::1]',
    "x'; script-src *",
    'a b',
    'a;b',
    'a,b',
    '*',
    "'unsafe-inline'",
    'a\r\nx-evil: 1',
  ])('FE-2: is never written as what could be read otherwise: %s', async (fqdn) => {
    const user = await signInAs()
    await serverOn(user, fqdn)
    const answer = await browser.request('GET', '/')
    expect(directivesOf(answer).get('connect-src')).toEqual(["'self'", 'wss:', 'https:'])
    expect(directivesOf(answer).get('script-src')).toEqual(["'self'", `'nonce-${nonceIn(answer)}'`])
    expect(answer.headers.get('x-evil')).toBeNull()
  })

  it('cost two statements', async () => {
    await signInAs()
    expect(await world.countStatements(() => browser.request('GET', '/'))).toBeLessThanOrEqual(2)
    const guest = await openBrowser(world)
    expect(await world.countStatements(() => guest.request('GET', '/auth/login'))).toBeLessThanOrEqual(2)
  })
})
