import { eq, inArray, type SQL, sql } from 'drizzle-orm'
import pLimit from 'p-limit'
import { nodeHeartbeats, nodes } from '../../db/schema.ts'
import type { Node } from '../../db/tables/nodes.ts'
import type { DaemonAddress, Panel } from '../../panel.ts'
import type { JobPayloads } from '../jobs/enqueue.ts'
import type { RunningJob } from '../jobs/run.ts'
import { settingsColumn } from '../settings/settings.ts'
import { askNode, type Heartbeat } from './ask.ts'
import { readDueCertificates } from './certificates.ts'
import { storeHeartbeats } from './store.ts'
import { storeServerReports } from './store-servers.ts'

/** Nodes that one job asks. */
const nodesPerJob = 100
/** Calls of one job in progress, unless the platform has fewer connections. */
const defaultConcurrency = 32
/** Seconds after which a job is left to the next one, which is due each minute. */
const maxLatenessSeconds = 90

/** Jobs that ask all nodes, a hundred each: at most one of them waits for the same hundred. */
export const nodeCheckJobs: SQL = sql`
  select 'check-nodes', jsonb_build_object('nodeIds', jsonb_agg(id)), 'check-nodes:' || part
  from (select id, (row_number() over (order by id) - 1) / ${sql.raw(String(nodesPerJob))} as part from ${nodes}) numbered
  group by part`

/** A node and its answer. */
export type NodeHeartbeat = { node: Pick<Node, 'id' | 'name'>; beat: Heartbeat }

/**
 * Runs `check-nodes`: asks each of the nodes once, and stores what they answer: states, usage, and a sample of it
 * where `metrics.history` is on, and when certificates end that are due to be read. A node that hangs holds up no other one. Records `admin:node.up` and
 * `admin:node.down`. Does nothing when it is late, as the next job of these nodes is due.
 */
export async function checkNodes(
  panel: Panel,
  { nodeIds }: JobPayloads['check-nodes'],
  { latenessSeconds }: Pick<RunningJob, 'latenessSeconds'>,
): Promise<void> {
  if (latenessSeconds > maxLatenessSeconds) return
  const rows = await findNodes(panel, nodeIds)
  const [first] = rows
  if (!first) return
  const limit = pLimit(panel.config.maxDaemonCalls ?? defaultConcurrency)
  const beats = await Promise.all(
    rows.map(({ node }) =>
      limit(async (): Promise<NodeHeartbeat> => ({
        node,
        beat: await askNode(panel.daemon(node), panel.now),
      })),
    ),
  )
  const { 'metrics.history': hasHistory, 'metrics.server_minutes': serverMinutes } = first.settings
  await storeHeartbeats(panel, beats, hasHistory)
  await storeServerReports(panel, beats, hasHistory ? serverMinutes : null)
  await readDueCertificates(
    panel,
    rows.map(({ node, certificateEndsAt, certificateReadAt }) => ({
      ...node,
      certificateEndsAt,
      certificateReadAt,
    })),
    beats,
  )
}

/** Asks one node at once, as `checkNodes` does each minute. */
export const askNodeNow = (panel: Panel, nodeId: number): Promise<void> =>
  checkNodes({ ...panel, actor: { kind: 'system' } }, { nodeIds: [nodeId] }, { latenessSeconds: 0 })

type NodeAddress = DaemonAddress & Pick<Node, 'id' | 'name'>

const findNodes = (panel: Panel, ids: number[]) =>
  panel.db
    .select({
      node: {
        id: nodes.id,
        name: nodes.name,
        uuid: nodes.uuid,
        scheme: nodes.scheme,
        fqdn: nodes.fqdn,
        daemonListen: nodes.daemonListen,
        daemonToken: nodes.daemonToken,
      } satisfies Record<keyof NodeAddress, unknown>,
      certificateEndsAt: nodeHeartbeats.certificateEndsAt,
      certificateReadAt: nodeHeartbeats.certificateReadAt,
      settings: settingsColumn(['metrics.history', 'metrics.server_minutes']),
    })
    .from(nodes)
    .leftJoin(nodeHeartbeats, eq(nodeHeartbeats.id, nodes.id))
    .where(inArray(nodes.id, ids))
    .orderBy(nodes.id)
