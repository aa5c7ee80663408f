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
import type { JsonBytes } from '../../../http/json-bytes.ts'
import { jsonText, placeOf, sharedParts, writeParts } from '../../../http/json-parts.ts'

/**
 * Adds the JSON of `daemonConfiguration`. A page of servers written from objects would allocate three times as much.
 * Throws as `daemonConfiguration` does. Wings: GET /servers.
 */
export function writeConfiguration(bytes: JsonBytes, rows: ServerConfigurationRows): void {
  const source = configurationSource(rows)
  const { server } = source
  bytes.text(
    `{"uuid":"${server.uuid}","settings":{"id":${server.id},"uuid":"${server.uuid}"` +
      `,"meta":{"name":${jsonText(server.name)},"description":${jsonText(server.description)}}` +
      `,"suspended":${server.status === 'suspended'},"environment":`,
  )
  const names = Object.keys(server.variables)
  writeParts(
    bytes,
    environmentParts(source.variables, names),
    (name) => daemonEnvironmentValue(source, name) ?? '',
  )
  bytes.text(`,${writeSettings(source)}},"process_configuration":`)
  writeParts(bytes, processParts(source.egg, []), placeholderFiller(source))
  bytes.text('}')
}

/** Writes what `daemonSettings` has behind the environment, in its order. */
function writeSettings(source: ConfigurationSource): string {
  const { server, egg, allocation } = source
  return (
    `"invocation":${jsonText(server.startup)},"skip_egg_scripts":${server.skipScripts},"build":${writeBuild(source)}` +
    `,"container":{"image":${jsonText(server.image)},"oom_disabled":${server.oomDisabled},"requires_rebuild":false}` +
    `,"allocations":{"force_outgoing_ip":${egg.forceOutgoingIp},"default":{"ip":${jsonText(allocation.ip)}` +
    `,"port":${allocation.port}},"mappings":${writeMappings(source)}}` +
    `,"mounts":${writeMounts(source)},"egg":${writeEgg(source)}`
  )
}

const writeBuild = ({ server }: ConfigurationSource): string =>
  `{"memory_limit":${server.memory},"swap":${server.swap},"io_weight":${server.io},"cpu_limit":${server.cpu}` +
  `,"threads":${jsonText(server.threads)},"disk_space":${server.disk},"oom_disabled":${server.oomDisabled}` +
  `,"oom_killer":${!server.oomDisabled}}`

/** Writes `portsByAddress`, most often of one address. */
function writeMappings(source: ConfigurationSource): string {
  const { server, allocation, allocations } = source
  let ports = String(allocation.port)
  for (const { id, nodeId, ip, port } of allocations) {
    if (nodeId !== server.nodeId || id === allocation.id) continue
    if (ip !== allocation.ip) return JSON.stringify(portsByAddress(source))
    ports += `,${port}`
  }
  return `{${jsonText(allocation.ip)}:[${ports}]}`
}

function writeMounts({ mounts }: ConfigurationSource): string {
  if (mounts.length === 0) return '[]'
  const items = mounts.map(
    ({ source, target, readOnly }) =>
      `{"source":${jsonText(source)},"target":${jsonText(target)},"read_only":${readOnly}}`,
  )
  return `[${items.join(',')}]`
}

/** By the egg, which the servers of a page share. */
const eggTexts = new WeakMap<ConfiguredEgg, string>()

function writeEgg({ egg, hasLocalRuntime }: ConfigurationSource): string {
  const known = eggTexts.get(egg)
  if (known !== undefined) return known
  const features = hasLocalRuntime ? `,"features":{"${localRuntimeFeature}":[]}` : ''
  const text = `{"id":"${egg.uuid}","file_denylist":${JSON.stringify(egg.fileDenylist)}${features}}`
  eggTexts.set(egg, text)
  return text
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
