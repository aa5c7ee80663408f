import { asc } from 'drizzle-orm'
import * as z from 'zod'
import { nodes } from '../../db/schema.ts'
import type { Node } from '../../db/tables/nodes.ts'
import { daemonUrl } from '../../domain/nodes/daemon-address.ts'
import type { Panel } from '../../panel.ts'
import { type Check, databaseChecks, privateStoreChecks, runCheck } from './checks.ts'

/** The input of `doctor`: nothing. */
export const DoctorInput = () => z.object({})

/** Checks the database, the other services, and the daemon of every node. Changes nothing. */
export async function runDoctor(panel: Panel): Promise<{ checks: Check[] }> {
  const [database, cache, queue, objects] = await Promise.all([
    databaseChecks(panel.db, panel.now),
    runCheck('cache', () => measurePing(() => panel.cache.ping())),
    runCheck('queue', () => measurePing(() => panel.queue.ping())),
    runCheck('objects', () => measurePing(() => panel.objects.ping())),
  ])
  const isReadable = database.every(({ state }) => state !== 'fail')
  const store = await privateStoreChecks(panel)
  return {
    checks: [
      ...database,
      cache,
      queue,
      objects,
      ...store,
      checkMail(panel),
      ...(isReadable ? await checkNodes(panel) : []),
    ],
  }
}

async function measurePing(ping: () => Promise<void>): Promise<Omit<Check, 'name'>> {
  const startedAt = performance.now()
  await ping()
  return { state: 'ok', detail: `answered in ${Math.ceil(performance.now() - startedAt)} ms` }
}

/** Users who forgot their password get the ordinary answer in any case: only here it shows that no mail follows. */
const checkMail = ({ config }: Panel): Check =>
  config.sendsMail
    ? { name: 'mail', state: 'ok', detail: 'a mail service is configured; mail:test sends a mail' }
    : {
        name: 'mail',
        state: 'warn',
        detail:
          'no mail service: invitations and links for forgotten passwords are not sent; set MAIL_DRIVER',
      }

async function checkNodes(panel: Panel): Promise<Check[]> {
  const rows = await panel.db.select().from(nodes).orderBy(asc(nodes.id))
  if (rows.length === 0) return [{ name: 'nodes', state: 'warn', detail: 'there are none yet' }]
  return Promise.all(rows.map((node) => checkNode(panel, node)))
}

/** Checks a daemon. During maintenance a failure is a warning. Wings: GET /api/system */
async function checkNode(panel: Panel, node: Node): Promise<Check> {
  const found = await runCheck(`node ${node.name}`, async () => {
    const { version } = await panel.daemon(node).system()
    return { state: 'ok', detail: `Wings ${version ?? 'of an unknown version'} at ${daemonUrl(node)}` }
  })
  if (found.state === 'ok') return found
  const detail = `${daemonUrl(node)}: ${found.detail}`
  return node.maintenanceMode
    ? { ...found, state: 'warn', detail: `${detail} (under maintenance)` }
    : { ...found, detail }
}
