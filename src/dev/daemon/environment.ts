import { delimiter, dirname } from 'node:path'
import type { ServerConfiguration } from './server-configuration.ts'

const reserved = new Set(['TZ', 'STARTUP', 'SERVER_MEMORY', 'SERVER_IP', 'SERVER_PORT'])

/** Builds the variables of a game server: the five of Wings, then the panel's with their names in upper case. */
export function buildEnvironment(configuration: ServerConfiguration): Record<string, string> {
  const environment: Record<string, string> = {
    TZ: Intl.DateTimeFormat().resolvedOptions().timeZone,
    STARTUP: configuration.invocation,
    SERVER_MEMORY: String(configuration.memoryLimit),
    SERVER_IP: configuration.defaultIp,
    SERVER_PORT: String(configuration.defaultPort),
  }
  for (const [name, value] of Object.entries(configuration.environment)) {
    if (!reserved.has(name.toUpperCase())) environment[name.toUpperCase()] = value
  }
  return environment
}

/**
 * Builds the environment of a local process: the server's variables and what an image would set. The daemon's own
 * environment is not passed on, since it may contain secrets of the panel.
 */
export function buildProcessEnvironment(
  configuration: ServerConfiguration,
  directory: string,
): Record<string, string> {
  const searchPath = [dirname(process.execPath), process.env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin']
  return {
    PATH: searchPath.join(delimiter),
    LANG: process.env['LANG'] ?? 'C.UTF-8',
    ...buildEnvironment(configuration),
    HOME: directory,
    SERVER_ROOT: directory,
    // Scripts that are also for containers leave out what needs one.
    LOCAL_RUNTIME: '1',
  }
}

/** Replaces `{{NAME}}` by the value of the variable, or by nothing when it is unknown, as images' entrypoints do. */
export function expandInvocation(configuration: ServerConfiguration, directory: string): string {
  const environment = buildEnvironment(configuration)
  return configuration.invocation
    .replace(/\{\{\s*([A-Za-z0-9_]+)\s*\}\}/g, (_, name: string) => environment[name.toUpperCase()] ?? '')
    .replaceAll('/home/container', directory)
}
