import type { Allocation } from './resources.ts'

/** Writes an address with its port: `[::1]:25565`. */
export function addressOfAllocation({ ip, alias, port }: Pick<Allocation, 'ip' | 'alias' | 'port'>): string {
  const host = alias ?? ip
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}
