import { and, eq, or, sql } from 'drizzle-orm'
import { mountNode, nodes } from '../../db/schema.ts'
import type { Tx } from '../../panel.ts'
import { text } from '../fields.ts'
import { invalidField } from '../validation.ts'

const maxPathLength = 191
/** An absolute path without empty parts, `.` and `..`; a slash may follow it. */
const absolutePath = /^(?:\/(?!\.{1,2}(?:\/|$))[^/\p{Cc}]+)+\/?$/u

/** Folders of daemons, of other servers and of Docker: a container with one of them owns the node. */
const protectedSources = [
  '/etc/pterodactyl',
  '/etc/pelican',
  '/var/lib/pterodactyl',
  '/var/lib/pelican',
  '/srv/daemon-data',
  '/var/lib/docker',
  '/var/run/docker.sock',
  '/run/docker.sock',
]
/** What daemons themselves mount in each container. */
const occupiedTargets = ['/home/container', '/tmp']

const isWithin = (path: string, folder: string) => path === folder || path.startsWith(`${folder}/`)
const overlaps = (path: string, other: string) => isWithin(path, other) || isWithin(other, path)

/** An absolute path, without a slash at its end. */
const pathField = () =>
  text(maxPathLength)
    .regex(absolutePath, 'regex')
    .transform((path) => path.replace(/\/$/, ''))

/** The folder on the node; refuses folders of daemons and Docker, what is in them and what holds them. */
export const sourceField = () =>
  pathField().refine((path) => !protectedSources.some((folder) => overlaps(path, folder)), 'not_in')

/** The path in the container; refuses the folder of the server, and what holds it. A folder in it is allowed. */
export const targetField = () =>
  pathField().refine((path) => !occupiedTargets.some((folder) => isWithin(folder, path)), 'not_in')

/** Refuses with 422 a source that overlaps the files of servers on a node that has the mount. */
export async function refuseServerFiles(tx: Tx, mountId: number, source: string): Promise<void> {
  const base = sql`rtrim(${nodes.daemonBase}, '/')`
  const isOverlapping = or(
    eq(base, source),
    sql`starts_with(${source}::text, ${base} || '/')`,
    sql`starts_with(${base}, ${source}::text || '/')`,
  )
  const [node] = await tx.db
    .select({ name: nodes.name })
    .from(mountNode)
    .innerJoin(nodes, eq(nodes.id, mountNode.nodeId))
    .where(and(eq(mountNode.mountId, mountId), isOverlapping))
    .limit(1)
  if (node)
    throw invalidField(
      'source',
      'not_in',
      `The node ${node.name} keeps the files of servers in this folder.`,
      { reason: 'mount_source_reserved', values: { node: node.name } },
    )
}
