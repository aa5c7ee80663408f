import { writeConfigFile } from './config-file.ts'
import type { Daemon } from './daemon.ts'

type JsonObject = Record<string, unknown>

/**
 * Merges a partial configuration onto the running one; null keeps a value. A new node secret counts at once for
 * the HTTP API and signed tokens on profile 1.11, while calls to the panel keep the old one until a restart;
 * 1.12 and pelican keep the old one for both, 1.13 changes both at once. A new `remote` counts at once for pages that
 * open a console, but is called after a restart. Throws, and changes nothing, when the file of the configuration cannot
 * be written. Wings: POST /api/update
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
