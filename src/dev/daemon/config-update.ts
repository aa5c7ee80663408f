import { writeConfigFile } from './config-file.ts'
import type { Daemon } from './daemon.ts'

type JsonObject = Record<string, unknown>

/**
 * Merges a partial configuration into the running one; null keeps a value. On profile 1.11 a new node secret applies
 * at once to the HTTP API and signed tokens, and to calls to the panel after a restart; 1.12 and pelican apply it to
 * both after a restart, 1.13 to both at once. A new `remote` applies at once to the origins of consoles, and to calls
 * after a restart. Throws, and changes nothing, when the configuration file cannot be written. Wings: POST /api/update
 */
export function applyConfig(daemon: Daemon, update: JsonObject): void {
  const config = structuredClone(daemon.config)
  merge(config, update)
  writeConfigFile(daemon, config)
  daemon.config = config
  if (daemon.settings.profile === '1.12' || daemon.settings.profile === 'pelican') return
  const tokenId = String(daemon.config['token_id'])
  const token = String(daemon.config['token'])
  daemon.credentials.inbound = { token }
  if (daemon.settings.profile === '1.13') daemon.credentials.outbound = { tokenId, token }
}

function merge(target: JsonObject, update: JsonObject): void {
  for (const [key, value] of Object.entries(update)) {
    if (value === null || key === '__proto__') continue
    const present = target[key]
    if (isObject(present) && isObject(value)) merge(present, value)
    else target[key] = value
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
