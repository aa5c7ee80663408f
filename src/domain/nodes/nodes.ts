import { and, eq, or } from 'drizzle-orm'
import * as z from 'zod'
import { isForeignKeyViolation, single } from '../../db/database.ts'
import type { RowPage } from '../../db/pagination.ts'
import { findRow, listRows } from '../../db/related-rows.ts'
import { locations, nodes } from '../../db/schema.ts'
import type { Node } from '../../db/tables/nodes.ts'
import { displayError, notFound } from '../../errors.ts'
import { inTransaction, type Panel, type Tx } from '../../panel.ts'
import { recordAdminEvent, recordAdminUpdate } from '../activity/record.ts'
import { boolean, integer, rowId, text, withFieldAliases } from '../fields.ts'
import {
  combineFilters,
  containsFilter,
  idFilter,
  type ListRequest,
  orderByColumns,
  shapeName,
} from '../filters.ts'
import { forgetCertificate } from '../heartbeats/certificates.ts'
import { hostField, urlHostField } from '../host-names.ts'
import { lockRegions, remoteColumn } from '../locations/regions.ts'
import { refuseMountSources } from '../mounts/paths.ts'
import { encrypt, randomText } from '../secrets.ts'
import { invalidField } from '../validation.ts'
import {
  affectsConfiguration,
  enqueueConfiguration,
  nodeWithRemote,
  type NodeWithRemote,
  tryDeliverConfiguration,
} from './configuration.ts'
import { decryptDaemonToken, previousTokenLocation, tokenLocation } from './daemon-address.ts'
import { requireExpectedVersion, versionOf } from '../versions.ts'

const tokenIdLength = 16
const tokenLength = 64
/** Milliseconds for which the token before a reset with `grace` is accepted, unless the daemon uses the new one earlier. */
const graceMs = 60 * 60 * 1000

const portNumber = () => integer(1, 65_535, { min: 'between', max: 'between' })

const nodeFields = () =>
  z.object({
    name: z.string().regex(/^[\w .-]{1,100}$/, 'regex'),
    description: z.string().nullish(),
    public: boolean().nullish(),
    location_id: rowId(),
    fqdn: urlHostField(),
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
    query_address: hostField().nullish(),
    sftp_domain: hostField().nullish(),
  })

/** SDKs send in snake case what the API names in camel case. */
const fieldAliases = { daemon_listen: 'daemonListen', daemon_sftp: 'daemonSFTP', daemon_base: 'daemonBase' }

/** A boolean that is true only as `true`: other spellings do not reset the secret. */
const strictBoolean = () =>
  z
    .preprocess(
      (value) => ([1, '1', 'true', 0, '0', 'false'].includes(value as string) ? false : value),
      z.boolean(),
    )
    .meta({ alsoAccepts: [{ enum: [0, 1, '0', '1', 'true', 'false'] }] })

/** A node to create. Memory, disk and upload size in MiB. Spec: postApplicationNodes. */
export const NodeInput = () => withFieldAliases(fieldAliases, nodeFields())
/** The fields of `NodeInput`, all optional, `reset_secret` and `grace`. Spec: patchApplicationNodesByNode. */
export const NodeChanges = () =>
  withFieldAliases(
    fieldAliases,
    nodeFields()
      .partial()
      .extend({
        reset_secret: strictBoolean().nullish().describe('Replaces the credential of the daemon'),
        grace: boolean()
          .nullish()
          .describe(
            'With reset_secret: accepts the old credential until the new one is used, for an hour at most',
          ),
      }),
  )
type NodeInput = z.output<ReturnType<typeof NodeInput>>
type NodeChanges = z.output<ReturnType<typeof NodeChanges>>

/** Fields that `filter` takes. */
export const nodeFilters = ['id', 'uuid', 'name', 'fqdn', 'daemon_token_id', 'location_id']
/** Fields that `sort` takes. */
export const nodeSorts = ['id', 'uuid', 'memory', 'disk']

/** Lists one page of nodes. `search` matches parts of name, domain and uuid. Spec: getApplicationNodes. */
export function listNodes(
  panel: Panel,
  request: ListRequest & { search: string | null },
  include: string[],
): Promise<RowPage<Node>> {
  const { search } = request
  const filters = {
    id: idFilter(nodes.id),
    uuid: containsFilter(nodes.uuid),
    name: containsFilter(nodes.name),
    fqdn: containsFilter(nodes.fqdn),
    daemon_token_id: containsFilter(nodes.daemonTokenId),
    location_id: idFilter(nodes.locationId),
  }
  const sorts = { id: nodes.id, uuid: nodes.uuid, memory: nodes.memory, disk: nodes.disk }
  return listRows(panel.db, 'node', {
    ...request,
    name: shapeName(request),
    include,
    search: and(
      combineFilters(filters, request.filters),
      search === null
        ? undefined
        : or(...[nodes.name, nodes.fqdn, nodes.uuid].map((column) => containsFilter(column)([search]))),
    ),
    orderBy: orderByColumns(sorts, request.sorts),
  })
}

/** Finds a node with its included relations. Refuses with 404. */
export async function findNode(panel: Panel, id: number, include: string[] = []): Promise<Node> {
  const node = await findRow<Node>(panel.db, 'node', eq(nodes.id, id), include)
  if (!node) throw notFound()
  return node
}

/**
 * Creates a node and the credential of its daemon. Refuses with 422 an unknown location. Records
 * `admin:node.create`.
 */
export async function addNode(panel: Panel, input: NodeInput): Promise<Node> {
  const uuid = crypto.randomUUID()
  const { name, fqdn, memory, disk } = input
  const values = {
    ...nodeColumns(input),
    name,
    fqdn,
    memory,
    disk,
    locationId: input.location_id,
    uuid,
    daemonTokenId: randomText(tokenIdLength),
    daemonToken: await encrypt(panel, randomText(tokenLength), tokenLocation({ uuid })),
  }
  try {
    return await inTransaction(panel, async (tx) => {
      const node = single(await tx.db.insert(nodes).values(values).returning())
      await recordAdminEvent(tx, 'admin:node.create', toSubject(node), { name })
      return node
    })
  } catch (error) {
    if (!isForeignKeyViolation(error)) throw error
    throw locationNotFound()
  }
}

/** A changed node, and whether its daemon did not answer when it was told. */
export type ChangedNode = { node: Node; isUnreachable: boolean }

/**
 * Changes the fields that were sent. `reset_secret` creates a new credential, and the one before is refused from
 * then on; with `grace` it is accepted until the daemon uses the new one, for an hour at most. The daemon gets its
 * new configuration at once, or by a job when it does not answer, which the result says. Refuses with 404, with
 * 422 an unknown location, `grace` without `reset_secret`, and a folder of servers that a mount of the node overlaps. Records `admin:node.update`.
 */
export async function changeNode(panel: Panel, id: number, input: NodeChanges): Promise<ChangedNode> {
  const isReset = input.reset_secret === true
  if (input.grace && !isReset)
    throw invalidField('reset_secret', 'accepted_if', 'The reset_secret field must be true when grace is.', {
      reason: 'grace_without_reset',
    })
  const change = await inTransaction(panel, async (tx) => {
    const before = await lockNode(tx, id)
    requireExpectedVersion(tx, versionOf(before.node))
    const remote = await resolveRemote(tx, before, input.location_id)
    const secret = isReset ? await newTokenColumns(tx, before.node, input.grace === true) : {}
    const changes = { ...nodeColumns(input), ...secret, updatedAt: tx.now() }
    const node = single(await tx.db.update(nodes).set(changes).where(eq(nodes.id, id)).returning())
    if (node.daemonBase !== before.node.daemonBase) await refuseMountSources(tx, id)
    if (isMoved(before.node, node)) await forgetCertificate(tx, id)
    await recordAdminUpdate(tx, 'admin:node.update', toSubject(node), {
      name: node.name,
      before: before.node,
      after: node,
    })
    const needsDelivery = affectsConfiguration(tx, before, { ...before, node, remote })
    if (needsDelivery) await enqueueConfiguration(tx, id)
    return { before: before.node, node, needsDelivery }
  })
  const isUnreachable = change.needsDelivery && !(await tryDeliverConfiguration(panel, change.before))
  return { node: change.node, isUnreachable }
}

/**
 * Deletes a node with its allocations. Refuses with 404, with 400 while it has servers. Records
 * `admin:node.delete`.
 */
export async function removeNode(panel: Panel, id: number): Promise<void> {
  try {
    await inTransaction(panel, async (tx) => {
      const [removed] = await tx.db.delete(nodes).where(eq(nodes.id, id)).returning()
      if (!removed) throw notFound()
      await recordAdminEvent(tx, 'admin:node.delete', toSubject(removed), { name: removed.name })
    })
  } catch (error) {
    if (!isForeignKeyViolation(error)) throw error
    throw displayError('node_in_use', 'A node with servers cannot be removed.', {
      code: 'HasActiveServersException',
    })
  }
}

/** Whether the daemon of a changed node is called at another address. */
const isMoved = (before: Node, after: Node) =>
  (['scheme', 'fqdn', 'daemonListen'] as const).some((part) => before[part] !== after[part])

/** Returns the columns of the fields that were sent; null empties nullable columns and leaves others as they are. */
function nodeColumns(input: NodeChanges) {
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

async function lockNode(tx: Tx, id: number): Promise<NodeWithRemote> {
  const [found] = await tx.db
    .select(nodeWithRemote(tx))
    .from(nodes)
    .innerJoin(locations, eq(locations.id, nodes.locationId))
    .where(eq(nodes.id, id))
    .for('update', { of: nodes })
  if (!found) throw notFound()
  return found
}

/**
 * Returns the origin that the daemon will call. Locks the location and the regions, so that neither changes
 * meanwhile.
 */
async function resolveRemote(tx: Tx, before: NodeWithRemote, id: number | undefined): Promise<string> {
  if (id === undefined || id === before.node.locationId) return before.remote
  await lockRegions(tx)
  const [location] = await tx.db
    .select({ remote: remoteColumn(tx) })
    .from(locations)
    .where(eq(locations.id, id))
    .for('share', { of: locations })
  if (!location) throw locationNotFound()
  return location.remote
}

/** The previous token is kept in any case: the panel calls a daemon with it that has not heard of the new one. */
async function newTokenColumns(tx: Tx, node: Node, hasGrace: boolean) {
  const previous = await decryptDaemonToken(tx, node)
  return {
    daemonTokenId: randomText(tokenIdLength),
    daemonToken: await encrypt(tx, randomText(tokenLength), tokenLocation(node)),
    previousTokenId: node.daemonTokenId,
    previousToken: await encrypt(tx, previous, previousTokenLocation(node)),
    previousTokenExpiresAt: hasGrace ? new Date(tx.now().getTime() + graceMs) : null,
  }
}

const toSubject = ({ id }: Node) => ({ type: 'node' as const, id })

const locationNotFound = () => invalidField('location_id', 'exists', 'The location does not exist.')
