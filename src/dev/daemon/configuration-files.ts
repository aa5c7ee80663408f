import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join, posix } from 'node:path'
import { configurationParsers } from './configuration-parsers.ts'
import type { Daemon } from './daemon.ts'
import type { GameServer } from './game-server.ts'
import { describeError } from './panel-client.ts'
import type { ConfigurationFile } from './server-configuration.ts'

/**
 * Writes the values of `process_configuration.configs` into the server's files and creates missing ones. A file
 * that cannot be rewritten or has an unsupported format is logged and left unchanged.
 */
export async function writeConfigurationFiles(daemon: Daemon, server: GameServer): Promise<void> {
  for (const file of server.configuration.files) {
    try {
      await writeConfigurationFile(daemon, server, file)
    } catch (error) {
      daemon.log(`${server.uuid}: configuration file ${file.file} is left unchanged: ${describeError(error)}`)
    }
  }
}

async function writeConfigurationFile(
  daemon: Daemon,
  server: GameServer,
  file: ConfigurationFile,
): Promise<void> {
  const parse = configurationParsers.get(file.parser)
  if (!parse) throw new Error(`the parser ${file.parser} is not supported`)
  const path = join(server.directory, posix.join('/', file.file))
  const present = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return ''
    throw error
  })
  const replacements = file.replace.map((entry) => ({
    ...entry,
    replaceWith: resolveConfigPlaceholders(entry.replaceWith, daemon.config),
  }))
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, parse(present, replacements))
}

/** Replaces `{{config.x.y}}` by a value of the daemon's configuration; an unknown path stays as it is. */
function resolveConfigPlaceholders(text: string, config: Record<string, unknown>): string {
  return text.replace(/\{\{\s?config\.([\w.-]+)\s?\}\}/g, (placeholder, path: string) => {
    let value: unknown = config
    for (const part of path.split('.')) {
      const key = part.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase()
      value =
        typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined
    }
    return value === undefined || typeof value === 'object' ? placeholder : String(value as string | number)
  })
}
