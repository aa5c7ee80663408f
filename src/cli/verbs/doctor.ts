import { asc } from 'drizzle-orm'
import * as z from 'zod'
import { nodes } from '../../db/schema.ts'
import type { Node } from '../../db/tables/nodes.ts'
import { daemonUrl } from '../../domain/daemon-address.ts'
import type { Panel } from '../../panel.ts'
import { type Check, check, databaseChecks } from './checks.ts'

/** What `doctor` is given: nothing. */
export const Examination = () => z.object({})

/** The state of the database, of every other part, and of the daemon of every node. Changes nothing. */
export async function examine(panel: Panel): Promise<{ checks: Check[] }> {
  const [database, cache, queue, objects] = await Promise.all([
    databaseChecks(panel.db, panel.now),
    check('cache', () => answering(() => panel.cache.ping())),
    check('queue', () => answering(() => panel.queue.ping())),
    check('objects', () => answering(() => panel.objects.ping())),
  ])
  const isReadable = database.every(({ state }) => state !== 'fail')
  return { checks: [...database, cache, queue, objects, ...(isReadable ? await nodeChecks(panel) : [])] }
}

async function answering(ping: () => Promise<void>): Promise<Omit<Check, 'name'>> {
  const before = performance.now()
  await ping()
  return { state: 'ok', detail: `answers within ${Math.ceil(performance.now() - before)} ms` }
}

async function nodeChecks(panel: Panel): Promise<Check[]> {
  const rows = await panel.db.select().from(nodes).orderBy(asc(nodes.id))
  if (rows.length === 0) return [{ name: 'nodes', state: 'warn', detail: 'there are none yet' }]
  return Promise.all(rows.map((node) => nodeCheck(panel, node)))
}

/** A daemon in maintenance may be away. Wings: GET /api/system */
async function nodeCheck(panel: Panel, node: Node): Promise<Check> {
  const found = await check(`node ${node.name}`, async () => {
    const { version } = await panel.daemon(node).system()
    return { state: 'ok', detail: `Wings ${version ?? 'of an unknown version'} at ${daemonUrl(node)}` }
  })
  if (found.state === 'ok') return found
  const detail = `${daemonUrl(node)}: ${found.detail}`
  return node.maintenanceMode
    ? { ...found, state: 'warn', detail: `${detail} (in maintenance)` }
    : { ...found, detail }
}
