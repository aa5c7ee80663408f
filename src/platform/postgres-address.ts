import type { ClientConfig } from 'pg'

/**
 * Returns what the driver connects with for a URL of PostgreSQL. `sslmode` means what it means to libpq: `require` does not
 * verify the certificate. With `auth=iam` the password is a token of AWS, signed anew for each connection, which is encrypted
 * and verified.
 */
export function postgresConfigOf(url: string): ClientConfig {
  const address = new URL(url)
  // Providers put it into URLs for libpq; this driver would send it to the server as a setting.
  address.searchParams.delete('channel_binding')
  if (address.searchParams.get('auth') === 'iam') return iamConfigOf(address)
  if (address.searchParams.has('sslmode')) address.searchParams.set('uselibpqcompat', 'true')
  return { connectionString: address.href }
}

function iamConfigOf(address: URL): ClientConfig {
  const role = {
    host: address.hostname,
    port: Number(address.port || 5432),
    user: decodeURIComponent(address.username),
  }
  return {
    ...role,
    database: decodeURIComponent(address.pathname.slice(1)),
    password: async () => (await import('../adapters/rds-token.ts')).signRdsToken(role, process.env),
    ssl: true,
  }
}
