import type { Allocation } from '../../db/tables/allocations.ts'
import type { Egg } from '../../db/tables/eggs.ts'
import type { Server } from '../../db/tables/servers.ts'

/** A server with all that its daemon configuration is made of; the egg has its inherited values filled in. */
export type ConfigurationSource = {
  server: Server
  egg: Egg
  environment: Record<string, string>
  /** The primary allocation. */
  allocation: Allocation
  /** All allocations of the server. */
  allocations: Allocation[]
}

/** What the daemon decodes into Go types: a wrong JSON type here makes it skip the server. */
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
  egg: { id: string; file_denylist: string[] }
}

/** The `settings` object of a server. Sizes in MiB, cpu in percent. Wings: GET /servers/{uuid}. */
export function daemonSettings(source: ConfigurationSource): DaemonSettings {
  const { server, egg, environment, allocation } = source
  return {
    id: server.id,
    uuid: server.uuid,
    meta: { name: server.name, description: server.description },
    suspended: server.status === 'suspended',
    environment,
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
    mounts: [],
    egg: { id: egg.uuid, file_denylist: egg.fileDenylist },
  }
}

/** Address → ports of the server's allocations on its current node; the primary one is always among them. */
export function portsByAddress(source: ConfigurationSource): Record<string, number[]> {
  const { server, allocation, allocations } = source
  const here = allocations.filter((other) => other.nodeId === server.nodeId && other.id !== allocation.id)
  const byAddress = Map.groupBy([allocation, ...here], (each) => each.ip)
  return Object.fromEntries([...byAddress].map(([ip, list]) => [ip, list.map((each) => each.port)] as const))
}
