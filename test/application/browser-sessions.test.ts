import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { activity, apiKeys, sessions, settings, users } from '../../src/db/schema.ts'
import type { User } from '../../src/db/tables/users.ts'
import { fullAcl, makeUser } from '../support/factories.ts'
import { openSignedInBrowser, type Browser } from '../support/browser.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
let admin: User
let browser: Browser

beforeEach(async () => {
  admin = await makeUser(world, { rootAdmin: true })
  browser = await openSignedInBrowser(world, admin)
})

const location = { short: 'ams', long: 'Amsterdam' }
const create = (options = {}) => browser.request('POST', '/api/application/locations', location, options)

describe("an administrator's browser on the Application API", () => {
  it('reads and changes what a key does, in as many statements', async () => {
    expect(await world.countStatements(() => browser.request('GET', '/api/application/servers'))).toBe(2)
    expect(await world.countStatements(() => browser.request('GET', '/api/application/activity'))).toBe(1)
    expect((await create()).status).toBe(201)
    const included = await browser.request('GET', '/api/application/locations?include=nodes')
    expect(included.body.data[0].attributes.relationships.nodes.object).toBe('list')
    const entries = await world.database.db.select().from(activity)
    expect(entries).toMatchObject([{ event: 'admin:location.create', source: 'web', actorId: admin.id }])
  })

  it('changes nothing for the page of another origin, or without the token of its page', async () => {
    expect((await create({ headers: { origin: 'https://evil.test' } })).status).toBe(419)
    expect((await create({ headers: { 'x-xsrf-token': 'x' } })).status).toBe(419)
    expect((await browser.request('GET', '/api/application/locations')).body.data).toEqual([])
  })

  it('ends with the session, and with the rights of the user', async () => {
    const { db } = world.database
    await db.update(users).set({ rootAdmin: false }).where(eq(users.id, admin.id))
    expect((await create()).status).toBe(403)
    await db.update(users).set({ rootAdmin: true }).where(eq(users.id, admin.id))
    expect((await create()).status).toBe(201)
    await db.delete(sessions)
    expect((await create()).status).toBe(401)
  })

  it('needs the second factor that is required', async () => {
    await world.database.db.insert(settings).values({ key: 'two_factor.required', value: 'administrators' })
    expect((await create()).body.errors[0].code).toBe('TwoFactorAuthRequiredException')
  })

  it('is extended by use', async () => {
    world.clock.advance(11 * 3600)
    expect((await create()).status).toBe(201)
    world.clock.advance(11 * 3600)
    expect((await browser.request('GET', '/api/application/locations')).status).toBe(200)
  })

  it('creates Application keys with any levels, addresses and expiry', async () => {
    const { status, body } = await browser.request('POST', '/api/application/keys', { acl: fullAcl })
    expect([status, body.attributes.acl, body.attributes.allowed_ips]).toEqual([201, fullAcl, []])
    const token = body.attributes.identifier + body.meta.secret_token
    expect((await world.request('GET', '/api/application/servers', { token })).status).toBe(200)
    expect((await world.database.db.select().from(apiKeys)).length).toBe(1)
  })

  it('counts with the keys of its administrator', async () => {
    const { headers } = await browser.request('GET', '/api/application/locations')
    expect(headers.get('x-ratelimit-remaining')).toMatch(/^\d+$/)
  })
})
