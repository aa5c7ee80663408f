import { useQuery } from '@tanstack/react-query'
import { Users } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from '../app/use-translation.ts'
import { rowsOf } from '../api/resources.ts'
import { type ServerSummary, summariesQuery } from '../api/server-list.ts'
import { playersQuery } from '../api/servers.ts'
import { site } from '../app/site.ts'
import { Dialog } from '../components/dialog.tsx'
import { GameTile } from '../games/game-icon.tsx'
import { gameOf, Place, playersText } from '../home/server-facts.tsx'
import { useServer } from './server-context.tsx'
import { useServerLive } from './server-live.ts'
import { isBlocked } from './server-state.ts'

/** Returns what lists show of the server; undefined until it is known. */
function useSummary(): ServerSummary | undefined {
  const { server } = useServer()
  const scope = site.user?.root_admin ? 'admin-all' : 'accessible'
  const { data } = useQuery({ ...summariesQuery({ scope, uuid: server.uuid }), staleTime: 300_000 })
  return data && rowsOf(data)[0]
}

/** The picture of the server's game. */
export function ServerTile() {
  const summary = useSummary()
  const name = summary ? `${summary.game ?? ''} ${summary.egg}` : ''
  return <GameTile name={name} icon={summary?.icon ?? null} className="size-10" />
}

/** The game of the server with its version, the players online and the place, as items of a list. */
export function IdentityItems() {
  const { server } = useServer()
  const { state } = useServerLive()
  const summary = useSummary()
  const isAsked = state === 'running' && !isBlocked(server)
  const { data } = useQuery({ ...playersQuery(server.identifier), enabled: isAsked })
  const answer = isAsked && data?.attributes.status === 'online' ? data : null
  const players = answer && {
    online: answer.attributes.players,
    max: answer.attributes.max_players,
    version: answer.meta.version,
  }
  if (!summary) return null
  return (
    <>
      <li>{gameOf({ egg: summary.egg, players: players ?? summary.players })}</li>
      {players && players.online !== null && (
        <li>
          <OnlinePlayers players={{ ...players, online: players.online }} names={answer.meta.player_names} />
        </li>
      )}
      {/* On a phone the console needs the line. */}
      <li className="hidden min-w-0 sm:flex">
        <Place server={summary} />
      </li>
    </>
  )
}

/** How many players are online; a button that shows their names where the game tells them. */
function OnlinePlayers({
  players,
  names,
}: {
  players: { online: number; max: number | null }
  names: readonly string[]
}) {
  const { t } = useTranslation()
  const [isOpen, setOpen] = useState(false)
  const text = (
    <>
      <Users aria-hidden className="size-3.5 shrink-0" />
      <span className="sr-only">{t('players.online', { count: players.online })}</span>
      <span aria-hidden className="tabular-nums">
        {playersText(players)}
      </span>
    </>
  )
  if (names.length === 0) return <span className="inline-flex items-center gap-1">{text}</span>
  const unnamed = players.online - names.length
  return (
    <>
      <button
        type="button"
        data-tooltip={t('players.show')}
        onClick={() => setOpen(true)}
        className="-mx-1.5 inline-flex min-h-6 items-center gap-1 rounded-control px-1.5 hover:bg-raised hover:text-ink"
      >
        {text}
      </button>
      <Dialog open={isOpen} onOpenChange={setOpen} width="small" title={t('players.title')}>
        <ul className="flex flex-wrap gap-1.5 text-sm">
          {names.map((name) => (
            <li key={name} className="private rounded-full bg-raised px-2.5 py-0.5 wrap-anywhere">
              {name}
            </li>
          ))}
        </ul>
        {unnamed > 0 && <p className="mt-3 text-sm text-muted">{t('players.more', { count: unnamed })}</p>}
      </Dialog>
    </>
  )
}
