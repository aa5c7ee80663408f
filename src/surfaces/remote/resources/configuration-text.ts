import {
  configurationSource,
  type DaemonConfiguration,
  type ServerConfigurationRows,
} from '../../../domain/servers/configuration.ts'
import {
  type ConfigurationSource,
  type ConfiguredEgg,
  type ConfiguredVariable,
  localRuntimeFeature,
  portsByAddress,
} from '../../../domain/servers/daemon-settings.ts'
import { daemonEnvironment, daemonEnvironmentValue } from '../../../domain/servers/environment.ts'
import { placeholderFiller } from '../../../domain/servers/placeholder-values.ts'
import { processConfiguration } from '../../../domain/servers/process-configuration.ts'
import { encodeJson, type JsonBytes } from '../../../http/json-bytes.ts'
import { placeOf, sharedParts, writeParts } from '../../../http/json-parts.ts'

/** Adds the configurations of a page, as `writeConfiguration` does, with commas between them. */
export function writeConfigurations(bytes: JsonBytes, rows: ServerConfigurationRows[]): void {
  for (const [at, row] of rows.entries()) {
    if (at > 0) bytes.json`,`
    writeConfiguration(bytes, row)
  }
}

/**
 * Adds the JSON of `daemonConfiguration`. A page of servers written from objects would allocate three times as much.
 * Throws as `daemonConfiguration` does. Wings: GET /servers.
 */
export function writeConfiguration(bytes: JsonBytes, rows: ServerConfigurationRows): void {
  const source = configurationSource(rows)
  const { server } = source
  bytes.json`{"uuid":${server.uuid},"settings":{
    "id":${server.id},
    "uuid":${server.uuid},
    "meta":{"name":${server.name},"description":${server.description}},
    "suspended":${server.status === 'suspended'},
    "environment":`
  const names = Object.keys(server.variables)
  writeParts(
    bytes,
    environmentParts(source.variables, names),
    (name) => daemonEnvironmentValue(source, name) ?? '',
  )
  writeSettings(bytes, source)
  bytes.json`},"process_configuration":`
  writeParts(bytes, processParts(source.egg, []), placeholderFiller(source))
  bytes.json`}`
}

/** Writes what `daemonSettings` has behind the environment, in its order. */
function writeSettings(bytes: JsonBytes, source: ConfigurationSource): void {
  const { server, egg, allocation } = source
  const { json } = bytes
  json`,
    "invocation":${server.startup},
    "skip_egg_scripts":${server.skipScripts},
    "build":{
      "memory_limit":${server.memory},
      "swap":${server.swap},
      "io_weight":${server.io},
      "cpu_limit":${server.cpu},
      "threads":${server.threads},
      "disk_space":${server.disk},
      "oom_disabled":${server.oomDisabled},
      "oom_killer":${!server.oomDisabled}
    },
    "container":{"image":${server.image},"oom_disabled":${server.oomDisabled},"requires_rebuild":false},
    "allocations":{
      "force_outgoing_ip":${egg.forceOutgoingIp},
      "default":{"ip":${allocation.ip},"port":${allocation.port}},
      "mappings":`
  writeMappings(bytes, source)
  json`},"mounts":${source.mounts.length === 0 ? noMounts : encodeMounts(source)},"egg":${encodeEgg(source)}`
}

/** Writes `portsByAddress`, most often of one address. */
function writeMappings({ json, value }: JsonBytes, source: ConfigurationSource): void {
  const { server, allocation, allocations } = source
  const others = allocations.filter(({ id, nodeId }) => nodeId === server.nodeId && id !== allocation.id)
  if (others.some(({ ip }) => ip !== allocation.ip)) return value(encodeJson(portsByAddress(source)))
  json`{${allocation.ip}:[${allocation.port}`
  for (const { port } of others) json`,${port}`
  json`]}`
}

const noMounts = encodeJson([])

const encodeMounts = ({ mounts }: ConfigurationSource): Uint8Array =>
  encodeJson(mounts.map(({ source, target, readOnly }) => ({ source, target, read_only: readOnly })))

/** By the egg, which the servers of a page share. */
const encodedEggs = new WeakMap<ConfiguredEgg, Uint8Array>()

function encodeEgg({ egg, hasLocalRuntime }: ConfigurationSource): Uint8Array {
  const known = encodedEggs.get(egg)
  if (known) return known
  const features = hasLocalRuntime ? { features: { [localRuntimeFeature]: [] } } : {}
  const encoded = encodeJson({ id: egg.uuid, file_denylist: egg.fileDenylist, ...features })
  encodedEggs.set(egg, encoded)
  return encoded
}

/** The environment of an egg's servers with values of these variables. */
const environmentParts = sharedParts((variables: ConfiguredVariable[], names) =>
  daemonEnvironment({
    variables,
    server: {
      startup: placeOf('STARTUP'),
      uuid: placeOf('P_SERVER_UUID'),
      allocationLimit: placeOf('P_SERVER_ALLOCATION_LIMIT') as never,
      variables: Object.fromEntries(names.map((name) => [name, placeOf(name)])),
    },
    location: { short: placeOf('P_SERVER_LOCATION') },
  }),
)

/** The process configuration of an egg's servers; its places are named by their templates. */
const processParts = sharedParts((egg: ConfiguredEgg): DaemonConfiguration['process_configuration'] =>
  processConfiguration(egg, placeOf),
)
