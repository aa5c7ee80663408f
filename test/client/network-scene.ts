import { asc, eq } from 'drizzle-orm'
import { beforeEach } from 'vitest'
import { only } from '../../src/db/database.ts'
import { activity, activitySubjects, allocations, servers, settings } from '../../src/db/schema.ts'
import type { SettingKey } from '../../src/domain/setting-definitions.ts'
import type { Answer } from '../support/answers.ts'
import { makeAllocation, makeClientToken, makeNode, makeServer, makeUser } from '../support/factories.ts'
import type { World } from '../support/world.ts'

type Things = {
  owner: Awaited<ReturnType<typeof makeUser>>
  node: Awaited<ReturnType<typeof makeNode>>
  /** May have three allocations, and has one. */
  server: Awaited<ReturnType<typeof makeServer>>
  /** Of the owner. */
  token: string
}
type Asking = { body?: unknown; as?: string; to?: string }

/** A server whose people may add allocations, and what is asked about them. */
export type NetworkScene = Things & ReturnType<typeof questions> & ReturnType<typeof settingsOf>

/** The scene of each test of a file. */
export function useNetworkScene(world: World): NetworkScene {
  const scene = {} as NetworkScene
  beforeEach(async () => {
    const [owner, node] = [await makeUser(world), await makeNode(world)]
    const server = await makeServer(world, { owner, node, allocationLimit: 3 })
    Object.assign(scene, { owner, node, server, token: await makeClientToken(world, owner) })
    await scene.configure({ 'features.auto_allocation': true })
  })
  return Object.assign(scene, questions(world, scene), settingsOf(world))
}

function questions(world: World, scene: Things) {
  const send = (method: string, at: string | number = '', options: Asking = {}): Promise<Answer> => {
    const { body, as = scene.token, to = scene.server.uuid } = options
    const path = `/api/client/servers/${to}/network/allocations${at && `/${at}`}`
    return world.request(method, path, { token: as, ...(body === undefined ? {} : { body }) })
  }
  const db = () => world.database.db
  return {
    send,
    add: (options: Asking = {}) => send('POST', '', options),
    /** One more allocation of the server. */
    own: (values: object = {}) => makeAllocation(world, scene.node, { serverId: scene.server.id, ...values }),
    allocation: async (id: number) =>
      only(await db().select().from(allocations).where(eq(allocations.id, id))),
    /** What the server has, by id. */
    held: () =>
      db()
        .select()
        .from(allocations)
        .where(eq(allocations.serverId, scene.server.id))
        .orderBy(asc(allocations.id)),
    lastEvent: async () => {
      const entries = await db().select().from(activity).orderBy(activity.id)
      const { id, event, properties, serverId, actorId } = only(entries.slice(-1))
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
    /** New ports may be made in this range. */
    range: (from: number, to: number) =>
      configure({
        'features.auto_allocation': true,
        'auto_allocation.range_start': from,
        'auto_allocation.range_end': to,
      }),
    /** The limit of every server. */
    allow: (allocationLimit: number | null) => world.database.db.update(servers).set({ allocationLimit }),
  }
}

/** Code and status of a refusal. */
export const refusal = ({ status, body }: Answer): [number, string] => [status, body.errors[0].code]
