import { Link } from '@tanstack/react-router'
import { memo } from 'react'
import { useTranslation } from '../app/use-translation.ts'
import { classNames } from '../components/class-names.ts'
import { CopyButton } from '../components/copy-button.tsx'
import { GameTile } from '../games/game-icon.tsx'
import { allocationAddress } from '../server/addresses.ts'
import { StateBadge } from '../server/state-badge.tsx'
import { Gauges } from './gauges.tsx'
import { type ListedServer, showsSame } from './listed-server.ts'
import { RowActions } from './row-actions.tsx'
import { SelectBox } from './select-box.tsx'
import { gameOf, Place, Players } from './server-facts.tsx'
import type { Selection } from './use-selection.ts'

/** A server as a card whose name links to its console. */
export const ServerCard = memo(function ServerCard({
  listed,
  selection,
}: {
  listed: ListedServer
  selection: Selection
}) {
  const { server, state, outage } = listed
  const isSelected = selection.has(server.identifier)
  return (
    <div
      className={classNames(
        'relative flex h-full min-w-0 flex-col gap-2.5 rounded-card border p-3 transition-colors',
        isSelected ? 'border-brand bg-brand-soft' : 'border-line bg-surface hover:border-line-strong',
      )}
    >
      <div className="flex min-w-0 items-start gap-2.5">
        {selection.isActive ? (
          <SelectBox server={server} selection={selection} />
        ) : (
          <GameTile name={`${server.game ?? ''} ${server.egg}`} icon={server.icon} />
        )}
        <div className="min-w-0 flex-1">
          <div className="flex items-center justify-between gap-2">
            <h2 className="min-w-0 leading-5 font-semibold">
              <ServerLink listed={listed} />
            </h2>
            <span className="max-w-1/2 shrink-0 [&>span]:whitespace-normal">
              <StateBadge server={server} state={state} isUnreachable={outage !== null} />
            </span>
          </div>
          <p className="mt-0.5 flex min-w-0 items-center gap-x-3 text-xs text-muted">
            <span className="min-w-0 shrink-[2] truncate">{gameOf(server)}</span>
            <Place server={server} />
            {state === 'running' && <Players players={server.players} />}
          </p>
        </div>
      </div>
      <Gauges listed={listed} />
      <div className="-mb-1 flex items-center justify-between gap-2">
        <Address listed={listed} />
        <RowActions listed={listed} />
      </div>
    </div>
  )
}, showsSame)

/** The address that players use, with a button that copies it. */
export function Address({ listed: { server } }: { listed: ListedServer }) {
  const { t } = useTranslation('home')
  const address = server.address && allocationAddress(server.address)
  if (address === null) return <span className="text-xs text-muted">{t('strings:word.none')}</span>
  return (
    <span className="relative flex min-w-0 items-center text-muted">
      <span className="private truncate font-mono text-xs">{address}</span>
      <CopyButton text={address} label={t('copy_address', { server: server.name })} />
    </span>
  )
}

/** The name of a server, as a link that covers its card or row. */
export const ServerLink = ({ listed: { server } }: { listed: ListedServer }) => (
  <Link
    to="/server/$server"
    params={{ server: server.identifier }}
    title={server.name}
    className="block truncate rounded-control outline-offset-4 after:absolute after:inset-0 after:rounded-card hover:underline"
  >
    {server.name}
  </Link>
)
