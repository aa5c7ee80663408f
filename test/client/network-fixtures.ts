import { asc, eq } from 'drizzle-orm'
import { beforeEach } from 'vitest'
import { single } from '../../src/db/database.ts'
import { activity, activitySubjects, allocations, servers, settings } from '../../src/db/schema.ts'
import type { SettingKey } from '../../src/domain/settings/definitions.ts'
import type { Answer } from '../support/answers.ts'
import { makeAllocation, makeClientToken, makeNode, makeServer, makeUser } from '../support/factories.ts'
import type { World } from '../support/world.ts'

type Rows = {
  owner: Awaited<ReturnType<typeof makeUser>>
  node: Awaited<ReturnType<typeof makeNode>>
  /** Has one allocation and a limit of three. */
  server: Awaited<ReturnType<typeof makeServer>>
  /** A token of the owner. */
  token: string
}
type SendOptions = { body?: unknown; as?: string; to?: string }

/** A server whose users may add allocations, and functions that send requests. */
export type NetworkFixtures = Rows & ReturnType<typeof requestsOf> & ReturnType<typeof settingsOf>

/** Creates the fixtures before each test of a file. */
export function useNetworkFixtures(world: World): NetworkFixtures {
  const fixtures = {} as NetworkFixtures
  beforeEach(async () => {
    const [owner, node] = [await makeUser(world), await makeNode(world)]
    const server = await makeServer(world, { owner, node, allocationLimit: 3 })
    Object.assign(fixtures, { owner, node, server, token: await makeClientToken(world, owner) })
    await fixtures.configure({ 'features.auto_allocation': true })
  })
  return Object.assign(fixtures, requestsOf(world, fixtures), settingsOf(world))
}

function requestsOf(world: World, fixtures: Rows) {
  const send = (method: string, at: string | number = '', options: SendOptions = {}): Promise<Answer> => {
    const { body, as = fixtures.token, to = fixtures.server.uuid } = options
    const path = `/api/client/servers/${to}/network/allocations${at && `/${at}`}`
    return world.request(method, path, { token: as, ...(body === undefined ? {} : { body }) })
  }
  const db = () => world.database.db
  return {
    send,
    add: (options: SendOptions = {}) => send('POST', '', options),
    /** Adds an allocation to the server. */
    addAllocation: (values: object = {}) =>
      makeAllocation(world, fixtures.node, { serverId: fixtures.server.id, ...values }),
    allocation: async (id: number) =>
      single(await db().select().from(allocations).where(eq(allocations.id, id))),
    /** Lists the allocations of the server by id. */
    listAllocations: () =>
      db()
        .select()
        .from(allocations)
        .where(eq(allocations.serverId, fixtures.server.id))
        .orderBy(asc(allocations.id)),
    lastEvent: async () => {
      const entries = await db().select().from(activity).orderBy(activity.id)
      const { id, event, properties, serverId, actorId } = single(entries.slice(-1))
      const subjects = await db()
        .select({ type: activitySubjects.subjectType, id: activitySubjects.subjectId })
        .from(activitySubjects)
        .where(eq(activitySubjects.activityId, id))
      return { event, properties, serverId, actorId, subjects }
    },
  }
}

function settingsOf(world: World) {
  const configure = async (values: Partial<Record<SettingKey, unknown>>): Promise<void> => {
    const { db } = world.database
    await db.delete(settings)
    await db.insert(settings).values(Object.entries(values).map(([key, value]) => ({ key, value })))
  }
  return {
    configure,
    /** Sets the port range of new allocations. */
    range: (from: number, to: number) =>
      configure({
        'features.auto_allocation': true,
        'auto_allocation.range_start': from,
        'auto_allocation.range_end': to,
      }),
    /** Sets the allocation limit of every server. */
    allow: (allocationLimit: number | null) => world.database.db.update(servers).set({ allocationLimit }),
  }
}

/** Returns status and code of a refusal. */
export const refusal = ({ status, body }: Answer): [number, string] => [status, body.errors[0].code]
