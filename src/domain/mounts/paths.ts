import { and, eq, or, type SQL, sql } from 'drizzle-orm'
import { mountNode, mounts, nodes } from '../../db/schema.ts'
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
  const [node] = await tx.db
    .select({ name: nodes.name })
    .from(mountNode)
    .innerJoin(nodes, eq(nodes.id, mountNode.nodeId))
    .where(and(eq(mountNode.mountId, mountId), isOverlapping(sql`${source}::text`)))
    .limit(1)
  if (node)
    throw invalidField(
      'source',
      'not_in',
      `The node ${node.name} keeps the files of servers in this folder.`,
      { reason: 'mount_source_reserved', values: { node: node.name } },
    )
}

/** Refuses with 422 when the folder of a changed node, of the files of its servers, overlaps the source of a mount it has. */
export async function refuseMountSources(tx: Tx, nodeId: number): Promise<void> {
  const [mount] = await tx.db
    .select({ name: mounts.name, source: mounts.source })
    .from(mountNode)
    .innerJoin(nodes, eq(nodes.id, mountNode.nodeId))
    .innerJoin(mounts, eq(mounts.id, mountNode.mountId))
    .where(and(eq(mountNode.nodeId, nodeId), isOverlapping(sql`${mounts.source}`)))
    .orderBy(mounts.name)
    .limit(1)
  if (mount)
    throw invalidField(
      'daemonBase',
      'not_in',
      `The node has the mount ${mount.name}, whose source ${mount.source} overlaps this folder.`,
      { reason: 'daemon_base_mounted', values: { mount: mount.name, path: mount.source } },
    )
}

/** Whether a source is the folder in which a node keeps the files of servers, is in it or holds it. */
function isOverlapping(source: SQL): SQL | undefined {
  const base = sql`rtrim(${nodes.daemonBase}, '/')`
  return or(
    sql`${base} = ${source}`,
    sql`starts_with(${source}, ${base} || '/')`,
    sql`starts_with(${base}, ${source} || '/')`,
  )
}
