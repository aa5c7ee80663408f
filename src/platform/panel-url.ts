import { networkInterfaces } from 'node:os'
import type { Env } from './env.ts'

const wildcardHosts = ['0.0.0.0', '::']
const loopbackHosts = ['127.0.0.1', '::1', 'localhost']

/** Returns the origin of the Node process: `APP_URL`, by default `localhost` where it leads to the listener. */
export function panelUrlOf({ APP_URL, HOST }: Pick<Env, 'APP_URL' | 'HOST'>, port: number): string {
  if (APP_URL !== undefined) return APP_URL
  const isAtLocalhost = HOST === undefined || [...loopbackHosts, ...wildcardHosts].includes(HOST)
  const host = isAtLocalhost ? 'localhost' : HOST.includes(':') ? `[${HOST}]` : HOST
  return new URL(`http://${host}:${port}`).origin
}

/** Explains what to set when other machines can connect but have no address to open. Null when nothing is missing. */
export function missingUrlNotice(
  { APP_URL, HOST }: Pick<Env, 'APP_URL' | 'HOST'>,
  url: string,
): string | null {
  if (APP_URL !== undefined || HOST === undefined || !wildcardHosts.includes(HOST)) return null
  const { port } = new URL(url)
  const example = `http://${ownAddress() ?? '192.0.2.1'}${port === '' ? '' : `:${port}`}`
  return [
    `HOST is ${HOST}, so other machines can connect, but without APP_URL users can sign in only on this one, at ${url}.`,
    `Set APP_URL to the address that browsers and daemons use, for example APP_URL=${example}`,
  ].join('\n')
}

/** Finds an IPv4 address of this machine that others can reach. */
function ownAddress(): string | undefined {
  const addresses = Object.values(networkInterfaces()).flatMap((each) => each ?? [])
  return addresses.find(({ family, internal }) => family === 'IPv4' && !internal)?.address
}
