import { isJsonObject, type JsonObject } from '../eggs/document.ts'
import type { ConfigurationSource, DaemonSettings } from './daemon-settings.ts'
import { fillPlaceholders } from './placeholders.ts'

type Scalar = string | number | boolean
export type FileReplacement = { match: string; if_value?: string; replace_with: Scalar }
/** A file that the daemon edits before each start; unknown keys of an egg are kept. */
export type ConfigurationFile = {
  parser: string
  file: string
  replace: FileReplacement[]
  [extra: string]: unknown
}
export type ProcessConfiguration = {
  startup: { done: string[]; user_interaction: string[]; strip_ansi: boolean }
  stop: { type: 'command' | 'signal' | 'stop'; value: string }
  configs: ConfigurationFile[]
}

// Old eggs use a path that the daemon's configuration does not have any more.
const oldInterface = '{{config.docker.interface}}'
const newInterface = '{{config.docker.network.interface}}'

/**
 * Builds how the daemon starts, stops and configures a server. No item is ever null, whatever the egg: a null
 * `file`, `parser` or `replace` crashes the daemon. Wings: GET /servers/{uuid}.
 */
export function processConfiguration(
  source: ConfigurationSource,
  settings: DaemonSettings,
): ProcessConfiguration {
  const { configStartup, configStop } = source.egg
  return {
    startup: {
      done: [configStartup?.done ?? []].flat().filter((item) => typeof item === 'string'),
      user_interaction: [],
      strip_ansi: configStartup?.strip_ansi === true,
    },
    stop: stopConfiguration(configStop),
    configs: configurationFiles(source, settings),
  }
}

/**
 * Converts the stop value; `^C` in its three spellings becomes SIGINT, as stock Wings kills on a value that it
 * does not know.
 */
function stopConfiguration(stop: string | null): ProcessConfiguration['stop'] {
  if (!stop) return { type: 'stop', value: '' }
  if (!stop.startsWith('^')) return { type: 'command', value: stop }
  const signal = stop.slice(1).toUpperCase()
  return { type: 'signal', value: signal === 'C' || signal === '^C' ? 'SIGINT' : signal }
}

function configurationFiles(source: ConfigurationSource, settings: DaemonSettings): ConfigurationFile[] {
  let structures: JsonObject[] | null = null
  const fill = (template: string) =>
    fillPlaceholders(template, (path) => {
      structures ??= structuresOf(source, settings)
      return resolve(path, structures)
    })
  const filled = (replacement: FileReplacement) => {
    const { replace_with: template } = replacement
    if (typeof template !== 'string' || !template.includes('{{')) return replacement
    return { ...replacement, replace_with: fill(template) }
  }
  return fileTemplatesOf(source.egg.configFiles).map((file) => ({
    ...file,
    replace: file.replace.map(filled),
  }))
}

/** Files with placeholders, by what the egg says of them, which the servers of a page share. */
const fileTemplates = new WeakMap<object, ConfigurationFile[]>()

function fileTemplatesOf(configFiles: unknown): ConfigurationFile[] {
  if (typeof configFiles !== 'object' || configFiles === null) return []
  const known = fileTemplates.get(configFiles)
  if (known) return known
  const files = Object.entries(configFiles).flatMap(([file, data]: [string, unknown]) => {
    if (!isJsonObject(data) || !isJsonObject(data.find) || typeof data.parser !== 'string') return []
    const extras = Object.entries(data).filter(([key, value]) => key !== 'find' && value !== null)
    const replace = Object.entries(data.find).flatMap(([match, value]) => replacements(match, value))
    return [{ ...Object.fromEntries(extras), parser: data.parser, file, replace }]
  })
  fileTemplates.set(configFiles, files)
  return files
}

function replacements(match: string, value: unknown): FileReplacement[] {
  if (isJsonObject(value)) {
    return Object.entries(value).flatMap(([ifValue, inner]) => {
      const scalar = scalarTemplate(inner)
      return scalar === undefined ? [] : [{ match, if_value: ifValue, replace_with: scalar }]
    })
  }
  const scalar = scalarTemplate(value)
  return scalar === undefined ? [] : [{ match, replace_with: scalar }]
}

/** Returns undefined for lists and objects, which the daemon cannot write. */
function scalarTemplate(value: unknown): Scalar | undefined {
  if (value === null) return ''
  if (typeof value === 'string') return value.replaceAll(oldInterface, newInterface)
  return typeof value === 'number' || typeof value === 'boolean' ? value : undefined
}

/** Resolves a placeholder: `''` when the structures do not have it, null when the daemon resolves it. */
function resolve([scope, ...path]: string[], structures: JsonObject[]): string | null {
  if (scope === 'server') return valueAt(structures, path)
  if (scope === 'env') return valueAt(structures, ['build', 'env', ...path])
  return null
}

function valueAt(structures: JsonObject[], path: string[]): string {
  for (const structure of structures) {
    let value: unknown = structure
    for (const name of path)
      value = isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
      return String(value)
  }
  return ''
}

/** Builds where placeholders find their values: under the names of Pterodactyl eggs, then of Pelican eggs, which are those of the daemon's settings. */
function structuresOf(source: ConfigurationSource, settings: DaemonSettings): JsonObject[] {
  const environment = environmentWithAddress(source)
  return [legacyStructure(source, settings, environment), { ...settings, environment }]
}

function legacyStructure(
  { server, egg, allocation }: ConfigurationSource,
  settings: DaemonSettings,
  environment: JsonObject,
): JsonObject {
  return {
    uuid: server.uuid,
    build: {
      default: { ip: allocation.ip, port: allocation.port },
      ports: settings.allocations.mappings,
      env: environment,
      oom_disabled: server.oomDisabled,
      memory: server.memory,
      swap: server.swap,
      io: server.io,
      cpu: server.cpu,
      threads: server.threads,
      disk: server.disk,
      image: server.image,
    },
    service: { egg: egg.uuid, skip_scripts: server.skipScripts },
    rebuild: false,
    suspended: server.status === 'suspended' ? 1 : 0,
  }
}

/** Adds memory, address and port, which eggs use like variables though the daemon sets them. */
function environmentWithAddress({ server, environment, allocation }: ConfigurationSource): JsonObject {
  return {
    ...environment,
    SERVER_MEMORY: server.memory,
    SERVER_IP: allocation.ip,
    SERVER_PORT: allocation.port,
  }
}
