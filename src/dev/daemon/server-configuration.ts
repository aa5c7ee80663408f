import { localRuntimeFeature } from './runtime.ts'

type JsonObject = Record<string, unknown>

export type ConfigurationReplacement = {
  match: string
  ifValue: string
  replaceWith: string
  isBoolean: boolean
}

export type ConfigurationFile = { file: string; parser: string; replace: ConfigurationReplacement[] }

/** The parts of a server's `settings` and `process_configuration` that the daemon uses. */
export type ServerConfiguration = {
  uuid: string
  /** As the panel sent it, for GET /api/servers/{uuid}. */
  settings: JsonObject
  suspended: boolean
  invocation: string
  environment: Record<string, string>
  skipEggScripts: boolean
  crashDetection: boolean
  memoryLimit: number
  defaultIp: string
  defaultPort: number
  done: string[]
  stripAnsi: boolean
  stop: { type: string; value: string }
  files: ConfigurationFile[]
  /** Lines of a .gitignore: files that the file routes do not change. */
  fileDenylist: string[]
  /** Whether the egg declares that it is written for this daemon. */
  hasLocalRuntime: boolean
}

/**
 * Decodes `{settings, process_configuration}` as strictly as Wings does. Throws an Error that names the field for
 * anything that makes Wings skip a server or crash. Wings: GET /api/remote/servers/{uuid}
 */
export function decodeServerConfiguration(value: unknown): ServerConfiguration {
  const answer = requireObject(value, 'configuration')
  const settings = requireObject(answer['settings'], 'settings')
  const allocations = optionalObject(settings['allocations'], 'settings.allocations')
  const defaultAllocation = optionalObject(allocations['default'], 'settings.allocations.default')
  checkUnusedSettings(settings, allocations)
  return {
    uuid: readUuid(settings['uuid']),
    settings,
    suspended: boolean(settings['suspended'], 'settings.suspended', false),
    invocation: text(settings['invocation'], 'settings.invocation'),
    environment: decodeEnvironment(optionalObject(settings['environment'], 'settings.environment')),
    skipEggScripts: boolean(settings['skip_egg_scripts'], 'settings.skip_egg_scripts', false),
    crashDetection: boolean(settings['crash_detection_enabled'], 'settings.crash_detection_enabled', true),
    memoryLimit: checkBuild(optionalObject(settings['build'], 'settings.build')),
    defaultIp: text(defaultAllocation['ip'], 'settings.allocations.default.ip'),
    defaultPort: integer(defaultAllocation['port'], 'settings.allocations.default.port'),
    ...decodeEgg(optionalObject(settings['egg'], 'settings.egg')),
    ...decodeProcess(requireObject(answer['process_configuration'], 'process_configuration')),
  }
}

function readUuid(value: unknown): string {
  const uuid = text(value, 'settings.uuid')
  if (uuid === '') throw new Error('settings.uuid is missing')
  return uuid
}

function checkUnusedSettings(settings: JsonObject, allocations: JsonObject): void {
  list(settings['mounts'], 'settings.mounts')
  const labels = optionalObject(settings['labels'], 'settings.labels')
  for (const [name, label] of Object.entries(labels)) text(label, `settings.labels.${name}`)
  text(optionalObject(settings['container'], 'settings.container')['image'], 'settings.container.image')
  const mappings = optionalObject(allocations['mappings'], 'settings.allocations.mappings')
  for (const [ip, ports] of Object.entries(mappings)) {
    const name = `settings.allocations.mappings.${ip}`
    list(ports, name).forEach((port) => integer(port, name))
  }
}

function decodeEgg(egg: JsonObject): Pick<ServerConfiguration, 'fileDenylist' | 'hasLocalRuntime'> {
  const features = optionalObject(egg['features'], 'settings.egg.features')
  return {
    fileDenylist: list(egg['file_denylist'], 'settings.egg.file_denylist').map((entry, at) =>
      text(entry, `settings.egg.file_denylist[${at}]`),
    ),
    hasLocalRuntime: Object.hasOwn(features, localRuntimeFeature),
  }
}

function checkBuild(build: JsonObject): number {
  for (const name of ['swap', 'io_weight', 'cpu_limit', 'disk_space']) {
    integer(build[name], `settings.build.${name}`)
  }
  text(build['threads'], 'settings.build.threads')
  boolean(build['oom_disabled'], 'settings.build.oom_disabled', false)
  return integer(build['memory_limit'], 'settings.build.memory_limit')
}

function decodeEnvironment(environment: JsonObject): Record<string, string> {
  const entries = Object.entries(environment).map(([name, value]) => [name, environmentText(value)])
  return Object.fromEntries(entries) as Record<string, string>
}

function environmentText(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number') return value.toFixed(6)
  return typeof value === 'boolean' ? String(value) : ''
}

function decodeProcess(
  process: JsonObject,
): Pick<ServerConfiguration, 'done' | 'stripAnsi' | 'stop' | 'files'> {
  const startup = optionalObject(process['startup'], 'startup')
  const stop = optionalObject(process['stop'], 'stop')
  return {
    done: list(startup['done'], 'startup.done').map((entry, at) => requireText(entry, `startup.done[${at}]`)),
    stripAnsi: boolean(startup['strip_ansi'], 'startup.strip_ansi', false),
    stop: { type: text(stop['type'], 'stop.type'), value: text(stop['value'], 'stop.value') },
    files: list(process['configs'], 'configs').map((entry, at) => decodeFile(entry, `configs[${at}]`)),
  }
}

function decodeFile(value: unknown, name: string): ConfigurationFile {
  const entry = requireObject(value, name)
  if (!Array.isArray(entry['replace'])) throw new Error(`${name}.replace is not a list`)
  return {
    file: requireText(entry['file'], `${name}.file`),
    parser: requireText(entry['parser'], `${name}.parser`),
    replace: entry['replace'].map((item, at) => decodeReplacement(item, `${name}.replace[${at}]`)),
  }
}

function decodeReplacement(value: unknown, name: string): ConfigurationReplacement {
  const entry = requireObject(value, name)
  const replaceWith = entry['replace_with']
  if (typeof replaceWith === 'object' && replaceWith !== null)
    throw new Error(`${name}.replace_with is not a scalar`)
  return {
    match: requireText(entry['match'], `${name}.match`),
    ifValue: text(entry['if_value'], `${name}.if_value`),
    // Wings writes this literal for a null replacement, which makes the mistake of the panel visible.
    replaceWith: replaceWith === null || replaceWith === undefined ? '<nil>' : String(replaceWith),
    isBoolean: typeof replaceWith === 'boolean',
  }
}

function requireObject(value: unknown, name: string): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error(`${name} is not an object`)
  }
  return value as JsonObject
}

function optionalObject(value: unknown, name: string): JsonObject {
  return value === undefined || value === null ? {} : requireObject(value, name)
}

function list(value: unknown, name: string): unknown[] {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) throw new Error(`${name} is not a list`)
  return value
}

function requireText(value: unknown, name: string): string {
  if (typeof value !== 'string') throw new Error(`${name} is not a string`)
  return value
}

function text(value: unknown, name: string): string {
  return value === undefined || value === null ? '' : requireText(value, name)
}

function integer(value: unknown, name: string): number {
  if (value === undefined || value === null) return 0
  if (!Number.isInteger(value)) throw new Error(`${name} is not an integer`)
  return value as number
}

function boolean(value: unknown, name: string, fallback: boolean): boolean {
  if (value === undefined || value === null) return fallback
  if (typeof value !== 'boolean') throw new Error(`${name} is not a boolean`)
  return value
}
