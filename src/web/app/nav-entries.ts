import type { LucideIcon } from 'lucide-react'

export type NavEntry = {
  to: string
  params?: Record<string, string>
  icon: LucideIcon
  text: string
  /** For the bar on phones, where a long text has no room. */
  short?: string
  exact?: boolean
  /** Whether the page shown belongs to this entry though its address does not say so. */
  isCurrent?: boolean
}

/** Entries that belong together; the first group needs no title. */
export type NavGroup = { title?: string; entries: NavEntry[] }

/** Returns the address of an entry, without a slash at its end. */
const addressOf = ({ to, params = {} }: NavEntry) =>
  to.replace(/\$(\w*)/g, (_, name: string) => params[name || '_splat'] ?? '').replace(/\/$/, '')

/** Whether the page at this path belongs to the entry. */
export function isCurrentEntry(entry: NavEntry, pathname: string): boolean {
  if (entry.isCurrent !== undefined) return entry.isCurrent
  const [address, path] = [addressOf(entry), pathname.replace(/\/$/, '')]
  return path === address || (!entry.exact && path.startsWith(`${address}/`))
}
