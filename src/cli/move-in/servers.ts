import { sql } from 'drizzle-orm'
import { allocations, servers } from '../../db/schema.ts'
import { cutTo, hasParent, type Move, type MovedRow, type Step } from './move.ts'
import type { SourceRow } from './spool.ts'
import { dateOf, isTrue, isUuid, numberOf, numberOrNull, textOf, textOrNull, timesOf } from './values.ts'

const statuses = new Set([
  'installing',
  'install_failed',
  'reinstall_failed',
  'suspended',
  'restoring_backup',
])

/** What a name of an SFTP login can end with. Wings: POST /sftp/auth. */
const shortPattern = /^[a-z0-9]{8}$/i

const parents = [
  ['owner_id', 'users'],
  ['node_id', 'nodes'],
  ['egg_id', 'eggs'],
] as const

function mapServer(row: SourceRow, move: Move): MovedRow | null {
  for (const [column, parent] of parents) if (!hasParent(move, 'servers', row, column, parent)) return null
  const [id, uuid] = [Number(row.id), textOf(row, 'uuid').toLowerCase()]
  if (!isUuid(uuid)) {
    move.report.refuse('servers', id, 'the uuid is not one')
    return null
  }
  const allocationId = primaryAllocationOf(row, move)
  if (allocationId === null) return null
  const short = textOf(row, move.kind === 'pelican' ? 'uuid_short' : 'uuidShort')
  if (!shortPattern.test(short)) {
    move.report.refuse('servers', id, 'the short id does not consist of eight letters and digits')
    return null
  }
  return {
    values: {
      id,
      uuid,
      uuidShort: short,
      externalId: textOrNull(row, 'external_id'),
      nodeId: Number(row.node_id),
      ownerId: Number(row.owner_id),
      eggId: Number(row.egg_id),
      allocationId,
      name: cutTo(move, 'servers', row, 'name', 191),
      description: textOf(row, 'description'),
      status: statuses.has(textOf(row, 'status')) ? textOf(row, 'status') : null,
      skipScripts: isTrue(row, 'skip_scripts'),
      ...limitsOf(row, move),
      startup: textOf(row, 'startup'),
      image: textOf(row, 'image'),
      variables: move.facts.serverVariables.get(id) ?? {},
      installedAt: dateOf(row, 'installed_at') ?? dateOf(row, 'created_at'),
      ...timesOf(row),
    },
  }
}

/** Returns the allocation of a server, which is its own from then on; null where it has none, which is reported. */
function primaryAllocationOf(row: SourceRow, move: Move): number | null {
  const [id, allocationId] = [Number(row.id), numberOrNull(row, 'allocation_id')]
  const ownServer = allocationId === null ? undefined : move.facts.allocationServers.get(allocationId)
  if (allocationId === null || ownServer === undefined || (ownServer !== null && ownServer !== id)) {
    move.report.leaveOut('servers', id, 'has no primary allocation of its own')
    return null
  }
  move.facts.allocationServers.set(allocationId, id)
  return allocationId
}

function limitsOf(row: SourceRow, move: Move) {
  const io = Math.min(1000, Math.max(10, numberOf(row, 'io', 500)))
  if (io !== numberOf(row, 'io', 500)) move.report.change('servers', Number(row.id), 'io becomes 10 to 1000')
  return {
    memory: numberOf(row, 'memory'),
    swap: Math.max(-1, numberOf(row, 'swap')),
    disk: numberOf(row, 'disk'),
    io,
    cpu: numberOf(row, 'cpu'),
    threads: textOrNull(row, 'threads'),
    oomDisabled: move.kind === 'pelican' ? !isTrue(row, 'oom_killer') : isTrue(row, 'oom_disabled'),
    databaseLimit: numberOrNull(row, 'database_limit'),
    allocationLimit: numberOrNull(row, 'allocation_limit'),
    backupLimit: numberOf(row, 'backup_limit'),
  }
}

function mapAllocation(row: SourceRow, move: Move): MovedRow | null {
  if (!hasParent(move, 'allocations', row, 'node_id', 'nodes')) return null
  const id = Number(row.id)
  const serverId = move.facts.allocationServers.get(id) ?? null
  const isMoved = serverId !== null && move.moved.get('servers')?.has(serverId)
  if (serverId !== null && !isMoved)
    move.report.change('allocations', id, 'is free, as its server is not moved')
  return {
    values: {
      id,
      nodeId: Number(row.node_id),
      ip: textOf(row, 'ip'),
      ipAlias: row.ip_alias === null ? null : cutTo(move, 'allocations', row, 'ip_alias', 65_535),
      port: numberOf(row, 'port'),
      serverId: isMoved ? serverId : null,
      notes: textOrNull(row, 'notes'),
      ...timesOf(row),
    },
  }
}

/** Reports values without a server or a variable, and writes what the servers of each node use. */
const completeServers: Step['after'] = async (tx, move) => {
  for await (const rows of move.spool.batches('server_variables', 2000))
    for (const row of rows) reportVariable(row, move)
  await tx.db.execute(sql`update nodes set
    used_memory = coalesce((select sum(memory) from servers where servers.node_id = nodes.id), 0),
    used_disk = coalesce((select sum(disk) from servers where servers.node_id = nodes.id), 0)`)
}

function reportVariable(row: SourceRow, move: Move): void {
  const isKnown = move.facts.variableNames.has(Number(row.variable_id))
  if (!isKnown || !move.moved.get('servers')?.has(Number(row.server_id)))
    move.report.leaveOut('server_variables', Number(row.id), 'has no server or no variable that is moved')
}

/** Servers with their allocations and variables: one transaction, since each needs the other. */
export const serverSteps: Step[] = [
  {
    source: 'servers',
    target: servers,
    unique: ['uuid', 'uuidShort', 'externalId'],
    lengths: { name: 191, externalId: 255 },
    changing: ['status', 'installedAt'],
    map: mapServer,
  },
  {
    source: 'allocations',
    target: allocations,
    unique: [['nodeId', 'ip', 'port']],
    after: completeServers,
    map: mapAllocation,
  },
]
