import type { Egg } from '../../db/tables/eggs.ts'
import {
  inheritConfiguration,
  type InheritedConfiguration,
  resolveInheritedEgg,
} from '../eggs/inheritance.ts'
import {
  type ConfiguredAllocation,
  type ConfiguredEgg,
  type ConfiguredLocation,
  type ConfiguredMount,
  type ConfiguredServer,
  type ConfiguredVariable,
  daemonSettings,
  type DaemonSettings,
  localRuntimeFeature,
} from './daemon-settings.ts'
import { daemonEnvironment } from './environment.ts'
import { processConfiguration, type ProcessConfiguration } from './process-configuration.ts'

/** Rows from which the configuration is built: `variables` of the egg, all `allocations` of the server, its allowed `mounts`. */
export type ServerConfigurationRows = {
  server: ConfiguredServer
  egg: ConfiguredEgg
  configFrom: InheritedConfiguration | null
  variables: ConfiguredVariable[]
  allocations: ConfiguredAllocation[]
  mounts: ConfiguredMount[]
  location: ConfiguredLocation
}

/** The egg of a server, and the one from which it inherits its install script. */
export type InstallScriptRows = { egg: Egg; copyScriptFrom: Egg | null }

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
  const { server, allocations, variables, location, mounts } = rows
  const allocation = allocations.find((each) => each.id === server.allocationId)
  if (!allocation) throw new Error(`Primary allocation of server ${server.uuid} was not loaded`)
  const source = {
    server,
    egg: inheritConfiguration(rows.egg, rows.configFrom),
    hasLocalRuntime: rows.egg.features?.includes(localRuntimeFeature) ?? false,
    environment: daemonEnvironment({ server, variables, location }),
    allocation,
    allocations,
    mounts,
  }
  const settings = daemonSettings(source)
  return { uuid: server.uuid, settings, process_configuration: processConfiguration(source, settings) }
}

/** Returns the install script of an egg, `''` when it has none. Wings: GET /servers/{uuid}/install. */
export function installScript(rows: InstallScriptRows): InstallScript {
  const egg = resolveInheritedEgg(rows.egg, null, rows.copyScriptFrom)
  return {
    container_image: egg.scriptContainer,
    entrypoint: egg.scriptEntry,
    script: egg.scriptInstall ?? '',
  }
}
