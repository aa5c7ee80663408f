import { type Allocation, relatedRows, type Server } from '../api/resources.ts'

/** What players type to join: alias or address, and port. */
export function addressOf({ ip, ip_alias, port }: Allocation): string {
  const host = ip_alias ?? ip
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** The same of a server's primary address; null where there is none. */
export function primaryAddress(server: Server): string | null {
  const rows = relatedRows<Allocation>(server.relationships.allocations)
  const primary = rows.find(({ is_default }) => is_default) ?? rows[0]
  return primary ? addressOf(primary) : null
}
