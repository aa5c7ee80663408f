import type { Allocation } from '../../db/tables/allocations.ts'
import type { EggVariable } from '../../db/tables/egg-variables.ts'
import type { Egg } from '../../db/tables/eggs.ts'
import type { Location } from '../../db/tables/locations.ts'
import type { Server } from '../../db/tables/servers.ts'
import { resolveInheritedEgg } from '../eggs/inheritance.ts'
import { daemonSettings, type DaemonSettings, localRuntimeFeature } from './daemon-settings.ts'
import { daemonEnvironment } from './environment.ts'
import { processConfiguration, type ProcessConfiguration } from './process-configuration.ts'

/** Rows from which the configuration is built: `variables` of the egg, all `allocations` of the server. */
export type ServerConfigurationRows = {
  server: Server
  egg: Egg
  configFrom: Egg | null
  copyScriptFrom: Egg | null
  variables: EggVariable[]
  allocations: Allocation[]
  location: Location
}
export type DaemonConfiguration = {
  uuid: string
  settings: DaemonSettings
  process_configuration: ProcessConfiguration
}
export type InstallScript = { container_image: string; entrypoint: string; script: string }

/**
 * Builds the configuration of a server for its daemon. Throws when the primary allocation is not among the
 * given ones, which the database rules out. Wings: GET /servers, GET /servers/{uuid}.
 */
export function daemonConfiguration(rows: ServerConfigurationRows): DaemonConfiguration {
  const { server, allocations, variables, location } = rows
  const allocation = allocations.find((each) => each.id === server.allocationId)
  if (!allocation) throw new Error(`Primary allocation of server ${server.uuid} was not loaded`)
  const source = {
    server,
    egg: resolveInheritedEgg(rows.egg, rows.configFrom, rows.copyScriptFrom),
    hasLocalRuntime: rows.egg.features?.includes(localRuntimeFeature) ?? false,
    environment: daemonEnvironment({ server, variables, location }),
    allocation,
    allocations,
  }
  return {
    uuid: server.uuid,
    settings: daemonSettings(source),
    process_configuration: processConfiguration(source),
  }
}

/** Returns the install script of an egg, `''` when it has none. Wings: GET /servers/{uuid}/install. */
export function installScript(rows: Pick<ServerConfigurationRows, 'egg' | 'copyScriptFrom'>): InstallScript {
  const egg = resolveInheritedEgg(rows.egg, null, rows.copyScriptFrom)
  return {
    container_image: egg.scriptContainer,
    entrypoint: egg.scriptEntry,
    script: egg.scriptInstall ?? '',
  }
}
