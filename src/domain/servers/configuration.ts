import type { Egg } from '../../db/tables/eggs.ts'
import {
  inheritConfiguration,
  type InheritedConfiguration,
  resolveInheritedEgg,
} from '../eggs/inheritance.ts'
import {
  type ConfigurationSource,
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
import { placeholderFiller } from './placeholder-values.ts'
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
  const source = configurationSource(rows)
  return {
    uuid: rows.server.uuid,
    settings: daemonSettings(source),
    process_configuration: processConfiguration(source.egg, placeholderFiller(source)),
  }
}

/** Returns what the configuration is built from. Throws as `daemonConfiguration` does. */
export function configurationSource(rows: ServerConfigurationRows): ConfigurationSource {
  const { server, allocations, variables, location, mounts } = rows
  const allocation = allocations.find((each) => each.id === server.allocationId)
  if (!allocation) throw new Error(`Primary allocation of server ${server.uuid} was not loaded`)
  return {
    server,
    egg: inheritedEgg(rows),
    hasLocalRuntime: rows.egg.features?.includes(localRuntimeFeature) ?? false,
    variables,
    location,
    allocation,
    allocations,
    mounts,
  }
}

/** Eggs with what they inherit, which the servers of a page share. */
const inheritedEggs = new WeakMap<ConfiguredEgg, ConfiguredEgg>()

function inheritedEgg({ egg, configFrom }: ServerConfigurationRows): ConfiguredEgg {
  const known = inheritedEggs.get(egg)
  if (known) return known
  const inherited = inheritConfiguration(egg, configFrom)
  inheritedEggs.set(egg, inherited)
  return inherited
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
