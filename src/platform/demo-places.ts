import { isLoopbackHost } from '../ip-addresses.ts'
import type { Env } from './env.ts'
import { processCount } from './process-count.ts'

/** Whether a process without or with this `HOST` listens on this machine only. */
export const isLoopbackListener = (host: string | undefined) => host === undefined || isLoopbackName(host)

/** Whether a host is this machine. It is read as in a URL, so in any notation of an address. */
function isLoopbackName(host: string): boolean {
  const origin = `http://${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}`
  return /^[\w.:[\]-]+$/.test(host) && URL.canParse(origin) && isLoopbackHost(new URL(origin).hostname, true)
}

/** Whether a URL leads to this machine; the IPv4-mapped form of an address does when the listener is there, too. */
export const isLoopbackUrl = (url: string, hasLoopbackListener: boolean) =>
  isLoopbackHost(new URL(url).hostname, hasLoopbackListener)

/**
 * Whether a database is on this machine: every host that the driver may take from the URL is, or is a socket. Without a
 * host the driver takes one from the environment.
 */
function isLocalDatabase(databaseUrl: string): boolean {
  const url = new URL(databaseUrl)
  const hosts = [url.hostname.replace(/^%2f/i, '/'), ...url.searchParams.getAll('host')].filter(Boolean)
  return hosts.length > 0 && hosts.every((host) => host.startsWith('/') || isLoopbackName(host))
}

/**
 * Lists the variables because of which there must be no demo: its development daemon isolates nothing, so only this
 * machine may reach the panel and its data.
 */
export function placesElsewhere(env: Env): string[] {
  const isLocalListener = isLoopbackListener(env.HOST)
  const places = {
    APP_URL: env.APP_URL === undefined || isLoopbackUrl(env.APP_URL, isLocalListener),
    HOST: isLocalListener,
    DATABASE_URL: env.DATABASE_URL === undefined || isLocalDatabase(env.DATABASE_URL),
    NEON_LOCAL_PROXY:
      env.NEON_LOCAL_PROXY === undefined || isLoopbackUrl(`http://${env.NEON_LOCAL_PROXY}`, true),
  }
  return Object.entries(places).flatMap(([name, isLocal]) => (isLocal ? [] : [name]))
}

/** Whether the set-up page may offer a demo: everything is on this machine, and the database is the embedded one. */
export const offersDemo = (env: Env) => env.DATABASE_URL === undefined && placesElsewhere(env).length === 0

/** Whether the Node process has a demo: as `DEMO` says, by default where everything is on this machine. */
export const hasDemo = (env: Env) =>
  env.DEMO ?? (placesElsewhere(env).length === 0 && processCount(env) === 1)
