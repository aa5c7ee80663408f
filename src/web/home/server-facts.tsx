import { MapPin, Users } from 'lucide-react'
import { useTranslation } from '../app/use-translation.ts'
import type { ServerSummary } from '../api/server-list.ts'
import { formatNumber } from '../app/formats.ts'

/** Returns the game of a server with its version where that is known. */
export function gameOf({ egg, players }: Pick<ServerSummary, 'egg' | 'players'>): string {
  const version = players?.version
  // Many games begin their version with their name.
  if (!version) return egg
  return version.toLowerCase().startsWith(egg.toLowerCase()) ? version : `${egg} ${version}`
}

/** Returns where a server runs: its node, and the location. */
export const placeOf = ({ node, location }: Pick<ServerSummary, 'node' | 'location'>): string =>
  location === '' || location === node ? node : `${node} · ${location}`

/** Returns how many players are online, with the maximum where it is known. */
export const playersText = ({ online, max }: { online: number; max: number | null }): string =>
  max === null ? formatNumber(online) : `${formatNumber(online)} / ${formatNumber(max)}`

/** Shows how many players are online; nothing where that is not known. */
export function Players({ players }: { players: ServerSummary['players'] }) {
  const { t } = useTranslation('home')
  if (players === null || players.online === null) return null
  const { online, max } = players
  return (
    <span className="inline-flex items-center gap-1 whitespace-nowrap tabular-nums">
      <Users aria-hidden className="size-3.5 shrink-0" />
      <span className="sr-only">{t('strings:players.online', { count: online })}</span>
      <span aria-hidden>{playersText({ online, max })}</span>
    </span>
  )
}

/** Shows where a server runs. */
export const Place = ({ server }: { server: Pick<ServerSummary, 'node' | 'location'> }) => (
  <span className="inline-flex min-w-0 items-center gap-1">
    <MapPin aria-hidden className="size-3.5 shrink-0" />
    <span className="truncate">{placeOf(server)}</span>
  </span>
)
