import { type Allocation, rowsOf, type Server } from '../api/resources.ts'

/** Returns the address players use to join: alias or IP, and port. */
export function allocationAddress({
  ip,
  ip_alias,
  port,
}: Pick<Allocation, 'ip' | 'ip_alias' | 'port'>): string {
  const host = ip_alias ?? ip
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** Returns the address of the primary allocation; null when there is none. */
export function primaryAddress(server: Server): string | null {
  const rows = rowsOf(server.relationships.allocations)
  const primary = rows.find(({ is_default }) => is_default) ?? rows[0]
  return primary ? allocationAddress(primary) : null
}
