import { eq, sql } from 'drizzle-orm'
import pLimit from 'p-limit'
import type { NodeProbe } from '../../adapters/node-probe.ts'
import { nodeHeartbeats } from '../../db/schema.ts'
import type { Node } from '../../db/tables/nodes.ts'
import type { Panel, Tx } from '../../panel.ts'
import type { NodeHeartbeat } from './check-nodes.ts'

/** Days before its end from which on a certificate needs attention. */
export const certificateWarningDays = 14
const hourMs = 3_600_000
/** Hours after which a certificate is read again; one that ends soon or is unknown earlier, so that its renewal is seen. */
const [usualHours, attentiveHours] = [24, 1]
/** Certificates that one job reads, and at once; the rest is left to the next minute. */
const maxReads = 20
const maxConcurrency = 10

/** A node, and what is known of its certificate. */
export type KnownCertificate = Pick<Node, 'id' | 'scheme' | 'fqdn' | 'daemonListen'> & {
  certificateEndsAt: Date | null
  certificateReadAt: Date | null
}

/**
 * Reads the certificates of nodes that have just answered, or whose certificate was not accepted, where one is due, and
 * stores when they end. Does nothing on platforms that show no certificates: their ends stay unknown. It calls only the
 * stored address of the node, and sends nothing. Spec: docs/nodes.md#certificates.
 */
export async function readDueCertificates(
  panel: Panel,
  known: readonly KnownCertificate[],
  beats: readonly NodeHeartbeat[],
): Promise<void> {
  const { probeNode } = panel
  if (!probeNode) return
  const reached = new Set(
    beats.filter(({ beat }) => beat.isUp || beat.cause === 'certificate').map(({ node }) => node.id),
  )
  const due = known.filter((node) => reached.has(node.id) && isDue(node, panel.now())).slice(0, maxReads)
  if (due.length === 0) return
  const limit = pLimit(maxConcurrency)
  const rows = await Promise.all(
    due.map((node) => limit(async () => ({ id: node.id, ends_at: await readEnd(probeNode, node) }))),
  )
  await panel.db.execute(sql`
    update ${nodeHeartbeats} h set certificate_read_at = ${panel.now().toISOString()}::timestamptz,
      certificate_ends_at = coalesce(r.ends_at, h.certificate_ends_at)
    from json_to_recordset(${JSON.stringify(rows)}::json) as r (id int, ends_at timestamptz) where h.id = r.id`)
}

function isDue(
  { scheme, certificateEndsAt: endsAt, certificateReadAt: readAt }: KnownCertificate,
  now: Date,
): boolean {
  if (scheme !== 'https') return false
  if (!readAt) return true
  const isCalm = endsAt && endsAt.getTime() - now.getTime() > certificateWarningDays * 24 * hourMs
  return now.getTime() - readAt.getTime() >= (isCalm ? usualHours : attentiveHours) * hourMs
}

async function readEnd(
  probeNode: NodeProbe,
  { fqdn: host, daemonListen: port }: KnownCertificate,
): Promise<string | null> {
  const { certificate } = await probeNode({ host, port, isSecure: true })
  return certificate ? certificate.validUntil.toISOString() : null
}

/** Forgets the certificate of a node whose address has changed. */
export async function forgetCertificate(tx: Tx, id: number): Promise<void> {
  await tx.db
    .update(nodeHeartbeats)
    .set({ certificateEndsAt: null, certificateReadAt: null })
    .where(eq(nodeHeartbeats.id, id))
}
