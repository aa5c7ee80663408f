import { renameSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { Daemon, DaemonOptions } from './daemon.ts'

/** What of a node's configuration the development daemon uses; the panel answers it as JSON. */
type NodeConfiguration = {
  uuid: string
  token_id: string
  token: string
  remote: string
  allowed_origins?: string[]
  api: { port: number }
}

/** What a daemon that was configured by this file is started with. Wings: config.yml */
export async function readConfigFile(
  file: string,
): Promise<
  Pick<DaemonOptions, 'panelUrl' | 'allowedOrigins' | 'tokenId' | 'token' | 'uuid' | 'port' | 'configFile'>
> {
  const configuration = JSON.parse(await readFile(file, 'utf8')) as NodeConfiguration
  return {
    panelUrl: configuration.remote,
    allowedOrigins: configuration.allowed_origins ?? [],
    tokenId: configuration.token_id,
    token: configuration.token,
    uuid: configuration.uuid,
    port: configuration.api.port,
    configFile: file,
  }
}

/** The file says what was configured, for the next start; a daemon without one forgets it. Throws when it cannot be written. */
export function writeConfigFile({ settings }: Daemon, config: Record<string, unknown>): void {
  if (settings.configFile === null) return
  writeFileSync(`${settings.configFile}.new`, JSON.stringify(config, null, 2), { mode: 0o600 })
  renameSync(`${settings.configFile}.new`, settings.configFile)
}
