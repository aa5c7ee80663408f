import { databaseHosts, locations, mounts, nodes } from '../../db/schema.ts'
import { hostPasswordLocation } from '../../domain/databases/hosts.ts'
import { tokenLocation } from '../../domain/nodes/daemon-address.ts'
import { cutTo, hasParent, type Move, type MovedRow, readSecret, type Step } from './move.ts'
import type { SourceRow } from './spool.ts'
import { isTrue, isUuid, numberOf, numberOrNull, textOf, textOrNull, timesOf } from './values.ts'

const mapLocation = (row: SourceRow, move: Move): MovedRow => ({
  values: {
    id: Number(row.id),
    short: cutTo(move, 'locations', row, 'short', 191),
    long: row.long === null || row.long === '' ? null : cutTo(move, 'locations', row, 'long', 65_535),
    ...timesOf(row),
  },
})

function mapNode(row: SourceRow, move: Move): MovedRow | null {
  const isPelican = move.kind === 'pelican'
  const placed = isPelican ? { ...row, location_id: 1 } : row
  if (!hasParent(move, 'nodes', placed, 'location_id', 'locations')) return null
  const [id, uuid] = [Number(row.id), textOf(row, 'uuid').toLowerCase()]
  if (!isUuid(uuid)) {
    move.report.refuse('nodes', id, 'the uuid is not one')
    return null
  }
  const plain = readSecret(move, 'nodes', row, 'daemon_token')
  if (plain === null) return null
  return {
    values: {
      id,
      uuid,
      public: isTrue(row, 'public'),
      name: cutTo(move, 'nodes', row, 'name', 100),
      description: textOrNull(row, 'description'),
      locationId: Number(placed.location_id),
      fqdn: textOf(row, 'fqdn'),
      scheme: textOf(row, 'scheme') === 'http' ? 'http' : 'https',
      behindProxy: isTrue(row, 'behind_proxy'),
      maintenanceMode: isTrue(row, 'maintenance_mode'),
      ...capacityOf(row, move, 'memory'),
      ...capacityOf(row, move, 'disk'),
      uploadSize: Math.max(1, numberOf(row, 'upload_size', 100)),
      daemonListen: isPelican
        ? numberOf(row, 'daemon_connect', numberOf(row, 'daemon_listen'))
        : numberOf(row, 'daemonListen'),
      daemonSftp: numberOf(row, isPelican ? 'daemon_sftp' : 'daemonSFTP'),
      daemonBase: textOf(row, isPelican ? 'daemon_base' : 'daemonBase'),
      sftpDomain: textOrNull(row, 'daemon_sftp_alias'),
      daemonTokenId: textOf(row, 'daemon_token_id'),
      ...timesOf(row),
    },
    secrets: [{ column: 'daemonToken', plain, location: tokenLocation({ uuid }) }],
  }
}

/** No limit, which is 0 there, is 1 MiB with any overallocation here. */
function capacityOf(row: SourceRow, move: Move, column: 'memory' | 'disk'): Record<string, number> {
  const size = numberOf(row, column)
  if (size < 1)
    move.report.change(
      'nodes',
      Number(row.id),
      `${column} without a limit becomes 1 MiB with overallocation -1`,
    )
  return {
    [column]: Math.max(1, size),
    [`${column}Overallocate`]: size < 1 ? -1 : Math.max(-1, numberOf(row, `${column}_overallocate`)),
  }
}

function mapMount(row: SourceRow, move: Move): MovedRow | null {
  return {
    values: {
      id: Number(row.id),
      uuid: textOf(row, 'uuid').toLowerCase(),
      name: cutTo(move, 'mounts', row, 'name', 191),
      description: textOf(row, 'description'),
      source: cutTo(move, 'mounts', row, 'source', 191),
      target: cutTo(move, 'mounts', row, 'target', 191),
      readOnly: isTrue(row, 'read_only'),
      userMountable: isTrue(row, 'user_mountable'),
    },
  }
}

function mapDatabaseHost(row: SourceRow, move: Move): MovedRow | null {
  const id = Number(row.id)
  const plain = readSecret(move, 'database_hosts', row, 'password')
  if (plain === null) return null
  const nodeId = numberOrNull(row, 'node_id') ?? move.facts.hostNodes.get(id) ?? null
  return {
    values: {
      id,
      name: textOf(row, 'name'),
      host: textOf(row, 'host'),
      port: numberOf(row, 'port', 3306),
      username: textOf(row, 'username'),
      maxDatabases: numberOrNull(row, 'max_databases'),
      nodeId: nodeId !== null && move.moved.get('nodes')?.has(nodeId) ? nodeId : null,
      ...timesOf(row),
    },
    secrets: [{ column: 'password', plain, location: hostPasswordLocation({ id }) }],
  }
}

/** Locations, nodes, mounts and database hosts, in this order. */
export const machineSteps: Step[] = [
  {
    source: 'locations',
    target: locations,
    unique: ['short'],
    lengths: { short: 191 },
    map: mapLocation,
  },
  {
    source: 'nodes',
    target: nodes,
    unique: ['uuid', 'daemonTokenId'],
    lengths: { name: 100 },
    changing: ['usedMemory', 'usedDisk'],
    map: mapNode,
  },
  {
    source: 'mounts',
    target: mounts,
    unique: ['uuid', 'name'],
    lengths: { name: 191, source: 191, target: 191 },
    map: mapMount,
  },
  { source: 'database_hosts', target: databaseHosts, map: mapDatabaseHost },
]
