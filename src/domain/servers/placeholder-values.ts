import { isJsonObject, type JsonObject } from '../eggs/document.ts'
import { type ConfigurationSource, daemonSettings } from './daemon-settings.ts'
import { daemonEnvironmentValue } from './environment.ts'
import { fillPlaceholders } from './placeholders.ts'

/**
 * Returns what fills in the placeholders of an egg's files for a server: `server.` under the names of Pterodactyl eggs,
 * then of Pelican eggs, which are those of the daemon's settings, and `env.`. Others stay for the daemon.
 */
export function placeholderFiller(source: ConfigurationSource): (template: string) => string {
  let legacy: JsonObject | null = null
  const resolve = (path: string[]): string | null => {
    if (path[0] === 'env') return environmentValue(source, path, 1)
    if (path[0] !== 'server') return null
    if (path[1] === 'environment') return environmentValue(source, path, 2)
    if (path[1] === 'build' && path[2] === 'env') return environmentValue(source, path, 3)
    legacy ??= legacyStructure(source)
    return valueAt(legacy, path) ?? valueAt(daemonSettings(source), path) ?? ''
  }
  return (template) => fillPlaceholders(template, resolve)
}

/**
 * Returns the value of the variable that the path names from `start` on, `''` without one. Eggs use memory, address and
 * port like variables, though the daemon sets them.
 */
function environmentValue(source: ConfigurationSource, path: string[], start: number): string {
  const { server, allocation } = source
  const name = path[start]
  if (name === undefined || path.length > start + 1) return ''
  if (name === 'SERVER_MEMORY') return String(server.memory)
  if (name === 'SERVER_IP') return allocation.ip
  if (name === 'SERVER_PORT') return String(allocation.port)
  return daemonEnvironmentValue(source, name) ?? ''
}

/** Returns the text at a path behind its scope, when it is neither a list nor an object, else null. */
function valueAt(structure: JsonObject, path: string[]): string | null {
  let value: unknown = structure
  for (let at = 1; at < path.length; at += 1) {
    const name = path[at] ?? ''
    value = isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
  }
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : null
}

/** Builds the names of Pterodactyl eggs, but for the variables. */
const legacyStructure = ({ server, egg, allocation }: ConfigurationSource): JsonObject => ({
  uuid: server.uuid,
  build: {
    default: { ip: allocation.ip, port: allocation.port },
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
})
