import type { Allocation } from '../../db/tables/allocations.ts'
import type { EggVariable } from '../../db/tables/egg-variables.ts'
import type { Egg } from '../../db/tables/eggs.ts'
import type { Location } from '../../db/tables/locations.ts'
import type { Mount } from '../../db/tables/mounts.ts'
import type { Server } from '../../db/tables/servers.ts'
import { daemonEnvironment } from './environment.ts'

/** The columns from which the configuration of a server is built. */
export const configuredColumns = {
  server: [
    'id',
    'uuid',
    'nodeId',
    'eggId',
    'allocationId',
    'name',
    'description',
    'status',
    'skipScripts',
    'memory',
    'swap',
    'disk',
    'io',
    'cpu',
    'threads',
    'oomDisabled',
    'startup',
    'image',
    'variables',
    'allocationLimit',
  ],
  egg: [
    'id',
    'uuid',
    'features',
    'fileDenylist',
    'configFiles',
    'configStartup',
    'configLogs',
    'configStop',
    'forceOutgoingIp',
  ],
  variable: ['envVariable', 'defaultValue'],
  allocation: ['id', 'nodeId', 'ip', 'port'],
  location: ['short'],
  mount: ['source', 'target', 'readOnly'],
} as const satisfies {
  server: (keyof Server)[]
  egg: (keyof Egg)[]
  variable: (keyof EggVariable)[]
  allocation: (keyof Allocation)[]
  location: (keyof Location)[]
  mount: (keyof Mount)[]
}
type Columns = typeof configuredColumns
export type ConfiguredServer = Pick<Server, Columns['server'][number]>
export type ConfiguredEgg = Pick<Egg, Columns['egg'][number]>
export type ConfiguredVariable = Pick<EggVariable, Columns['variable'][number]>
export type ConfiguredAllocation = Pick<Allocation, Columns['allocation'][number]>
export type ConfiguredLocation = Pick<Location, Columns['location'][number]>
export type ConfiguredMount = Pick<Mount, Columns['mount'][number]>

/** A server with what its daemon settings are built from; the egg has its inherited values filled in. */
export type ConfigurationSource = {
  server: ConfiguredServer
  egg: ConfiguredEgg
  /** Whether the egg itself declares the local runtime; the declaration of another egg is not inherited. */
  hasLocalRuntime: boolean
  variables: ConfiguredVariable[]
  location: ConfiguredLocation
  /** The primary allocation. */
  allocation: ConfiguredAllocation
  /** All allocations of the server. */
  allocations: ConfiguredAllocation[]
  mounts: ConfiguredMount[]
}

/**
 * The feature by which an egg declares that its script and its program may run without a container. Stock daemons
 * search the console for the texts of a feature, and this one has none.
 */
export const localRuntimeFeature = 'local_runtime'

/** Settings that the daemon decodes into Go types: it skips a server with a wrong JSON type. */
export type DaemonSettings = {
  id: number
  uuid: string
  meta: { name: string; description: string }
  suspended: boolean
  environment: Record<string, string>
  invocation: string
  skip_egg_scripts: boolean
  build: {
    memory_limit: number
    swap: number
    io_weight: number
    cpu_limit: number
    threads: string | null
    disk_space: number
    oom_disabled: boolean
    oom_killer: boolean
  }
  container: { image: string; oom_disabled: boolean; requires_rebuild: boolean }
  allocations: {
    force_outgoing_ip: boolean
    default: { ip: string; port: number }
    mappings: Record<string, number[]>
  }
  mounts: { source: string; target: string; read_only: boolean }[]
  egg: { id: string; file_denylist: string[]; features?: Record<typeof localRuntimeFeature, string[]> }
}

/** Builds the `settings` of a server. Sizes in MiB, cpu in percent of one core. Wings: GET /servers/{uuid}. */
export function daemonSettings(source: ConfigurationSource): DaemonSettings {
  const { server, egg, hasLocalRuntime, allocation, mounts } = source
  return {
    id: server.id,
    uuid: server.uuid,
    meta: { name: server.name, description: server.description },
    suspended: server.status === 'suspended',
    environment: daemonEnvironment(source),
    invocation: server.startup,
    skip_egg_scripts: server.skipScripts,
    build: {
      memory_limit: server.memory,
      swap: server.swap,
      io_weight: server.io,
      cpu_limit: server.cpu,
      threads: server.threads,
      disk_space: server.disk,
      oom_disabled: server.oomDisabled,
      oom_killer: !server.oomDisabled,
    },
    container: { image: server.image, oom_disabled: server.oomDisabled, requires_rebuild: false },
    allocations: {
      force_outgoing_ip: egg.forceOutgoingIp,
      default: { ip: allocation.ip, port: allocation.port },
      mappings: portsByAddress(source),
    },
    mounts: mounts.map(({ source: folder, target, readOnly }) => ({
      source: folder,
      target,
      read_only: readOnly,
    })),
    egg: {
      id: egg.uuid,
      file_denylist: egg.fileDenylist,
      ...(hasLocalRuntime ? { features: { [localRuntimeFeature]: [] } } : {}),
    },
  }
}

/** Returns the ports of the server's allocations on its node by address; the primary one is always included. */
export function portsByAddress(source: ConfigurationSource): Record<string, number[]> {
  const { server, allocation, allocations } = source
  const ports: Record<string, number[]> = { [allocation.ip]: [allocation.port] }
  for (const { id, nodeId, ip, port } of allocations)
    if (nodeId === server.nodeId && id !== allocation.id) (ports[ip] ??= []).push(port)
  return ports
}
