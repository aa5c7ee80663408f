import { chownSync, renameSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { Daemon, DaemonOptions } from './daemon.ts'
import { systemCode } from './file-errors.ts'
import type { UnprivilegedUser } from './unprivileged-user.ts'

/** The part of a node's configuration that the development daemon uses. */
type NodeConfiguration = {
  uuid: string
  token_id: string
  token: string
  remote: string
  allowed_origins?: string[]
  api: { port: number }
}

/** Reads the options of a daemon from the configuration of its node, as JSON. Wings: docs/wings.md#configuration-file */
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

/** Lets the user as whom the daemon will run write its configuration file. */
export const giveConfigFile = (file: string, { uid, gid }: UnprivilegedUser): void =>
  chownSync(file, uid, gid)

/** Writes the configuration to the daemon's file for its next start, if it has one. Throws when it cannot be written. */
export function writeConfigFile({ settings }: Daemon, config: Record<string, unknown>): void {
  if (settings.configFile === null) return
  const text = JSON.stringify(config, null, 2)
  try {
    writeFileSync(`${settings.configFile}.new`, text, { mode: 0o600 })
    renameSync(`${settings.configFile}.new`, settings.configFile)
  } catch (error) {
    if (systemCode(error) !== 'EACCES') throw error
    // The folder may belong to another user than the file.
    writeFileSync(settings.configFile, text)
  }
}
