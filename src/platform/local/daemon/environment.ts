import { delimiter, dirname } from 'node:path'
import type { ServerConfiguration } from './server-configuration.ts'

const reserved = new Set(['TZ', 'STARTUP', 'SERVER_MEMORY', 'SERVER_IP', 'SERVER_PORT'])

/** The variables of a game server: Wings' five first, then the panel's with upper-cased names. */
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
 * The environment of a local process: the server's variables on top of the little that stands in for an image.
 * Nothing else of the daemon's own environment is passed on, because it may hold the panel's secrets.
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
  }
}

/** Replaces `{{NAME}}` by the variable's value, unknown ones by nothing, as an image's entrypoint does. */
export function expandInvocation(configuration: ServerConfiguration, directory: string): string {
  const environment = buildEnvironment(configuration)
  return configuration.invocation
    .replace(/\{\{\s*([A-Za-z0-9_]+)\s*\}\}/g, (_, name: string) => environment[name.toUpperCase()] ?? '')
    .replaceAll('/home/container', directory)
}
