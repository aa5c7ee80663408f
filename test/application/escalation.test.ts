import { beforeAll, describe, expect, it } from 'vitest'
import { listMountedRoutes } from '../../src/cli/api-info.ts'
import { type Acl, aclResources, type AclResource } from '../../src/db/tables/api-keys.ts'
import { findMetadata, type RouteRow } from '../../src/http/metadata.ts'
import type { Answer } from '../support/answers.ts'
import { openSignedInBrowser, pageHeaders, sessionCookieName } from '../support/browser.ts'
import { fullAcl, makeKey, makeRoleHolder, makeUser } from '../support/factories.ts'
import { type RequestOptions, useWorld } from '../support/world.ts'
import { bodySchemaOf, sampleText } from '../contract/garbage.ts'
import { createFixtures, type Fixtures, pathOf } from '../contract/fixtures.ts'

const world = useWorld()
const timeoutMs = 120_000

/** A level that a route needs. */
type Need = { resource: AclResource; bit: 1 | 2 }

/** Every route of the Application API with the levels that its metadata names. */
const routes = listMountedRoutes()
  .filter((row) => findMetadata(row, 'credential')?.name === 'application key or session')
  .map((row) => ({ row, name: `${row.method} ${row.path}`, needs: needsOf(row) }))

function needsOf(row: RouteRow): Need[] {
  return row.metadata.flatMap((metadata) => {
    if (metadata.kind !== 'permission') return []
    // Root lists users with any key; administrators with a role need the level.
    if (metadata.name === 'administrator') return [{ resource: 'users', bit: 1 } as const]
    const [, resource, level] = /^(\w+) (READ|WRITE)$/.exec(metadata.name) ?? []
    return [{ resource: resource as AclResource, bit: level === 'READ' ? 1 : 2 } as const]
  })
}

/** What a role can have on a resource. */
const roleLevels = [0, 1, 3] as const

/** The levels of a role with one resource left at a level, and everything else. */
const allBut = (resource: AclResource, level: 0 | 1 | 3): Acl => ({ ...fullAcl, [resource]: level })

/** The least role that the route needs. */
const justEnough = (needs: Need[]): Acl =>
  Object.fromEntries(needs.map(({ resource, bit }) => [resource, bit === 2 ? 3 : 1]))

type Caller = { session: RequestOptions; key: RequestOptions }

/** Makes callers with a role, once for each set of levels; their keys were stored with every level. */
function callers() {
  const made = new Map<string, Caller>()
  return async (acl: Acl): Promise<Caller> => {
    const name = JSON.stringify(acl)
    const user = made.has(name) ? null : await makeRoleHolder(world, acl)
    if (user) {
      const browser = await openSignedInBrowser(world, user)
      const token = browser.cookies.get(sessionCookieName(world)) ?? ''
      const key = await makeKey(world, user, { type: 'application', acl: fullAcl })
      made.set(name, { session: { headers: pageHeaders(world, token) }, key: { token: key.token } })
    }
    return made.get(name) as Caller
  }
}

/** Sends a body that fits, so that nothing but the caller is refused. */
async function send(row: RouteRow, fixtures: Fixtures, options: RequestOptions): Promise<Answer> {
  const schema = bodySchemaOf(row)
  const raw = schema === null ? {} : { raw: sampleText(schema) }
  return world.request(row.method, pathOf(row, fixtures), { ...raw, ...options })
}

/** What takes or replaces accounts is for root administrators, whatever the level of a role. */
const rootPaths = /^\/api\/application\/move-in(?:\/|$)/
const isRootRefusal = ({ status, text }: Answer) =>
  status === 403 && text.includes('root_administrator_required')

const isLevelRefusal = ({ status, text }: Answer) => status === 403 && /You may not (read|write)/.test(text)

describe('AZ-12: every route of the Application API', () => {
  let fixtures: Fixtures
  beforeAll(() => expect(routes.length).toBeGreaterThan(70))

  it('names a level that a role can have', () => {
    for (const { name, needs } of routes) {
      expect(needs.length, name).toBeGreaterThan(0)
      for (const { resource } of needs) expect(aclResources, name).toContain(resource)
    }
  })

  it(
    'is refused to a role that lacks its level, by session and by key, whatever else the role has',
    async () => {
      fixtures = await createFixtures(world)
      const callerWith = callers()
      const faults: string[] = []
      for (const { row, name, needs } of routes) {
        for (const { resource, bit } of needs) {
          for (const level of roleLevels) {
            const caller = await callerWith(allBut(resource, level))
            for (const [kind, options] of Object.entries(caller)) {
              const answer = await send(row, fixtures, options)
              const isRefused = isLevelRefusal(answer)
              if (isRefused !== ((level & bit) === 0) || answer.status === 401 || answer.status === 419)
                faults.push(`${name} by ${kind} with ${resource} ${level}: ${answer.status} ${answer.text}`)
            }
          }
        }
      }
      expect(faults).toEqual([])
    },
    timeoutMs,
  )

  it(
    'is open to a role with just its levels, and to none without any',
    async () => {
      fixtures = await createFixtures(world)
      const callerWith = callers()
      const none = await callerWith({})
      const faults: string[] = []
      for (const { row, name, needs } of routes) {
        for (const options of Object.values(none)) {
          const answer = await send(row, fixtures, options)
          if (answer.status !== 403) faults.push(`${name} without levels: ${answer.status}`)
        }
        const able = await callerWith(justEnough(needs))
        for (const [kind, options] of Object.entries(able)) {
          const answer = await send(row, fixtures, options)
          if (rootPaths.test(row.path) && isRootRefusal(answer)) continue
          if ([401, 403, 419, 500].includes(answer.status))
            faults.push(`${name} by ${kind} with its levels: ${answer.status} ${answer.text}`)
        }
      }
      expect(faults).toEqual([])
    },
    timeoutMs,
  )

  it(
    'is refused to users, to guests, and to changes without the token of the page',
    async () => {
      fixtures = await createFixtures(world)
      const root = await makeUser(world, { rootAdmin: true })
      const tokenOf = async (user: { id: number; authVersion: number }) =>
        (await openSignedInBrowser(world, user)).cookies.get(sessionCookieName(world)) ?? ''
      const rootHeaders = pageHeaders(world, await tokenOf(root))
      const userHeaders = pageHeaders(world, await tokenOf(await makeUser(world)))
      const { 'x-xsrf-token': _, ...withoutToken } = rootHeaders
      const faults: string[] = []
      for (const { row, name } of routes) {
        const expectStatus = async (who: string, headers: Record<string, string>, status: number) => {
          const answer = await send(row, fixtures, { headers })
          if (answer.status !== status) faults.push(`${name} by ${who}: ${answer.status}`)
        }
        await expectStatus('a user', userHeaders, 403)
        await expectStatus('a guest', pageHeaders(world, fixtures.guestToken), 401)
        if (row.method === 'GET') continue
        await expectStatus('a page without its token', withoutToken, 419)
        await expectStatus('a page of another origin', { ...rootHeaders, origin: 'https://evil.test' }, 419)
      }
      expect(faults).toEqual([])
    },
    timeoutMs,
  )
})
