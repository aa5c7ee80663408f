import { eq } from 'drizzle-orm'
import * as z from 'zod'
import { foreignKeyViolation, only } from '../db/database.ts'
import { paginate, type RowPage } from '../db/pagination.ts'
import { fieldsOf, findRow } from '../db/relations.ts'
import { locations, nodes } from '../db/schema.ts'
import type { Node } from '../db/tables/nodes.ts'
import { displayError, notFound } from '../errors.ts'
import { inTransaction, type Panel } from '../panel.ts'
import { daemonSecret, previousTokenPlace, tokenPlace } from './daemon-address.ts'
import { boolean, integer, rowId, text } from './fields.ts'
import { allFilters, containing, type ListRequest, orderOf } from './filters.ts'
import { urlHost, writtenHost } from './host-names.ts'
import {
  concernsDaemon,
  enqueueConfiguration,
  type PlacedNode,
  tryConfiguration,
} from './node-configuration.ts'
import { holdRegions, remoteColumn } from './regions.ts'
import { randomText, seal } from './secrets.ts'
import { invalidField } from './validation.ts'

const tokenIdLength = 16
const tokenLength = 64
/** Milliseconds for which a daemon that has not restarted may call with the pair before a reset. */
const previousPairLifetime = 24 * 60 * 60 * 1000

const portNumber = () => integer(1, 65_535, { min: 'between', max: 'between' })

const nodeFields = () =>
  z.object({
    name: z.string().regex(/^[\w .-]{1,100}$/, 'regex'),
    description: z.string().nullish(),
    public: boolean().nullish(),
    location_id: rowId(),
    fqdn: urlHost(),
    scheme: z.enum(['http', 'https']),
    behind_proxy: boolean().nullish(),
    maintenance_mode: boolean().nullish(),
    memory: integer(1),
    memory_overallocate: integer(-1),
    disk: integer(1),
    disk_overallocate: integer(-1),
    upload_size: integer(1).nullish(),
    daemonListen: portNumber(),
    daemonSFTP: portNumber(),
    daemonBase: text(191)
      .regex(/^\/[\w./-]+$/, 'regex')
      .nullish(),
    country_code: z
      .string()
      .regex(/^.{2}$/su, 'size')
      .nullish(),
    query_address: writtenHost().nullish(),
    sftp_domain: writtenHost().nullish(),
  })

const otherSpellings = { daemon_listen: 'daemonListen', daemon_sftp: 'daemonSFTP', daemon_base: 'daemonBase' }

/** SDKs of the ecosystem write in snake case what the specification writes in camel case. */
const inOneSpelling = (input: unknown) => {
  const fields: Record<string, unknown> = { ...(input as object) }
  for (const [written, name] of Object.entries(otherSpellings)) fields[name] ??= fields[written]
  return fields
}

/** Only the boolean itself: the other spellings of true leave the secret as it is. */
const exactlyTrue = () =>
  z.preprocess(
    (value) => ([1, '1', 'true', 0, '0', 'false'].includes(value as string) ? false : value),
    z.boolean(),
  )

/** Memory, disk and upload size in MiB. Spec: Resources, node. */
export const NodeInput = () => z.preprocess(inOneSpelling, nodeFields())
/** The same fields where only some are sent. Spec: Resources, node. */
export const NodeChanges = () =>
  z.preprocess(inOneSpelling, nodeFields().partial().extend({ reset_secret: exactlyTrue().nullish() }))
type NodeInput = z.output<ReturnType<typeof NodeInput>>
type NodeChanges = z.output<ReturnType<typeof NodeChanges>>

/** Fields that `filter` takes. */
export const nodeFilters = ['uuid', 'name', 'fqdn', 'daemon_token_id']
/** Fields that `sort` takes. */
export const nodeSorts = ['id', 'uuid', 'memory', 'disk']

/** One page of nodes. Spec: Application API, nodes. */
export function listNodes(panel: Panel, request: ListRequest, include: string[]): Promise<RowPage<Node>> {
  const filters = {
    uuid: containing(nodes.uuid),
    name: containing(nodes.name),
    fqdn: containing(nodes.fqdn),
    daemon_token_id: containing(nodes.daemonTokenId),
  }
  const sorts = { id: nodes.id, uuid: nodes.uuid, memory: nodes.memory, disk: nodes.disk }
  return paginate(panel.db, {
    ...request,
    table: nodes,
    fields: fieldsOf('node', nodes, include),
    where: allFilters(filters, request.filters),
    orderBy: orderOf(sorts, request.sorts),
  })
}

/** The node with its included relations. Refuses with 404 when there is none. */
export async function findNode(panel: Panel, id: number, include: string[] = []): Promise<Node> {
  const node = await findRow(panel.db, 'node', nodes, eq(nodes.id, id), include)
  if (!node) throw notFound()
  return node
}

/** Adds a node with a credential of its own for its daemon. Refuses with 422 a location that does not exist. */
export async function addNode(panel: Panel, input: NodeInput): Promise<Node> {
  const uuid = crypto.randomUUID()
  const { name, fqdn, memory, disk } = input
  const values = {
    ...columnsOf(input),
    name,
    fqdn,
    memory,
    disk,
    locationId: input.location_id,
    uuid,
    daemonTokenId: randomText(tokenIdLength),
    daemonToken: await seal(panel, randomText(tokenLength), tokenPlace({ uuid })),
  }
  try {
    return only(await panel.db.insert(nodes).values(values).returning())
  } catch (error) {
    if (!foreignKeyViolation(error)) throw error
    throw missingLocation()
  }
}

/**
 * Changes the fields that were sent; `reset_secret` gives the node a new credential, while the one
 * before is accepted for another day. What its daemon must know is told to it at once, or by a job
 * when it does not answer. Refuses with 404, and with 422 a location that does not exist.
 */
export async function changeNode(panel: Panel, id: number, input: NodeChanges): Promise<Node> {
  const change = await inTransaction(panel, async (inner) => {
    const before = await lockNode(inner, id)
    const remote = await remoteAfter(inner, before, input.location_id)
    const secret = input.reset_secret === true ? await newSecret(inner, before.node) : {}
    const changes = { ...columnsOf(input), ...secret, updatedAt: inner.now() }
    const node = only(await inner.db.update(nodes).set(changes).where(eq(nodes.id, id)).returning())
    const isDaemonsConcern = concernsDaemon(inner, before, { node, remote })
    if (isDaemonsConcern) await enqueueConfiguration(inner, id)
    return { before: before.node, node, isDaemonsConcern }
  })
  if (change.isDaemonsConcern) await tryConfiguration(panel, change.before)
  return change.node
}

/** Removes a node with its allocations. Refuses with 400 while servers stand on it, with 404 when there is none. */
export async function removeNode(panel: Panel, id: number): Promise<void> {
  try {
    const removed = await panel.db.delete(nodes).where(eq(nodes.id, id)).returning({ id: nodes.id })
    if (removed.length === 0) throw notFound()
  } catch (error) {
    if (!foreignKeyViolation(error)) throw error
    throw displayError('A node with servers cannot be removed.', 'HasActiveServersException')
  }
}

/** Columns for the fields that were sent: null empties what may be empty and leaves the rest as it is. */
function columnsOf(input: NodeChanges) {
  return {
    name: input.name,
    description: input.description,
    public: input.public ?? undefined,
    locationId: input.location_id,
    fqdn: input.fqdn,
    scheme: input.scheme,
    behindProxy: input.behind_proxy ?? undefined,
    maintenanceMode: input.maintenance_mode ?? undefined,
    memory: input.memory,
    memoryOverallocate: input.memory_overallocate,
    disk: input.disk,
    diskOverallocate: input.disk_overallocate,
    uploadSize: input.upload_size ?? undefined,
    daemonListen: input.daemonListen,
    daemonSftp: input.daemonSFTP,
    daemonBase: input.daemonBase ?? undefined,
    countryCode: input.country_code,
    queryAddress: input.query_address,
    sftpDomain: input.sftp_domain,
  }
}

async function lockNode(panel: Panel, id: number): Promise<PlacedNode> {
  const [found] = await panel.db
    .select({ node: nodes, remote: remoteColumn(panel) })
    .from(nodes)
    .innerJoin(locations, eq(locations.id, nodes.locationId))
    .where(eq(nodes.id, id))
    .for('update', { of: nodes })
  if (!found) throw notFound()
  return found
}

/** Where the daemon calls from then on; neither the location's region nor that region's origin changes meanwhile. */
async function remoteAfter(panel: Panel, before: PlacedNode, id: number | undefined): Promise<string> {
  if (id === undefined || id === before.node.locationId) return before.remote
  await holdRegions(panel)
  const [location] = await panel.db
    .select({ remote: remoteColumn(panel) })
    .from(locations)
    .where(eq(locations.id, id))
    .for('share', { of: locations })
  if (!location) throw missingLocation()
  return location.remote
}

async function newSecret(panel: Panel, node: Node) {
  const previous = await daemonSecret(panel, node)
  return {
    daemonTokenId: randomText(tokenIdLength),
    daemonToken: await seal(panel, randomText(tokenLength), tokenPlace(node)),
    previousTokenId: node.daemonTokenId,
    previousToken: await seal(panel, previous, previousTokenPlace(node)),
    previousTokenExpiresAt: new Date(panel.now().getTime() + previousPairLifetime),
  }
}

const missingLocation = () => invalidField('location_id', 'exists', 'The location does not exist.')
