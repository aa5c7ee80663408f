import { memo } from 'react'
import { useTranslation } from '../app/use-translation.ts'
import { classNames } from '../components/class-names.ts'
import { GameTile } from '../games/game-icon.tsx'
import { StateBadge } from '../server/state-badge.tsx'
import { Gauges } from './gauges.tsx'
import { type ListedServer, showsSame } from './listed-server.ts'
import { RowActions } from './row-actions.tsx'
import { SelectBox } from './select-box.tsx'
import { Address, ServerLink } from './server-cards.tsx'
import { gameOf, Place, Players } from './server-facts.tsx'
import type { Selection } from './use-selection.ts'

/** The columns of a row: what has no room is left out. */
export const rowGrid =
  'grid grid-cols-[minmax(0,1fr)_6.75rem_14.75rem_7.25rem] items-center gap-x-3 px-3 lg:grid-cols-[minmax(0,1fr)_8rem_15rem_7.25rem] xl:grid-cols-[minmax(0,1fr)_8rem_minmax(0,13rem)_18rem_7.25rem] xl:gap-x-4'

/** The titles of the columns. */
export function TableHead() {
  const { t } = useTranslation('home')
  const head = 'py-2 text-start text-xs font-medium text-muted'
  return (
    <div role="row" className={classNames(rowGrid, 'border-b border-line')}>
      <div role="columnheader" className={head}>
        {t('strings:word.name')}
      </div>
      <div role="columnheader" className={head}>
        {t('strings:word.status')}
      </div>
      <div role="columnheader" className={classNames(head, 'hidden xl:block')}>
        {t('place.column')}
      </div>
      <div role="columnheader" className={head}>
        {t('usage')}
      </div>
      <div role="columnheader" className={head}>
        <span className="sr-only">{t('actions')}</span>
      </div>
    </div>
  )
}

/** The cells of a server's row. */
export const ServerCells = memo(function ServerCells({
  listed,
  selection,
}: {
  listed: ListedServer
  selection: Selection
}) {
  const { server, state, outage } = listed
  return (
    <>
      <div role="rowheader" className="flex min-w-0 items-center gap-2.5 py-1.5">
        {selection.isActive ? (
          <SelectBox server={server} selection={selection} />
        ) : (
          <GameTile name={`${server.game ?? ''} ${server.egg}`} icon={server.icon} />
        )}
        <div className="min-w-0">
          <p className="text-sm font-medium">
            <ServerLink listed={listed} />
          </p>
          <div className="-my-2 flex min-w-0">
            <Address listed={listed} />
          </div>
        </div>
      </div>
      <div role="cell" className="min-w-0 [&>span]:whitespace-normal">
        <StateBadge server={server} state={state} isUnreachable={outage !== null} />
      </div>
      <div role="cell" className="hidden min-w-0 text-xs text-muted xl:block">
        <p className="flex min-w-0 items-center gap-3">
          <span className="truncate text-ink">{gameOf(server)}</span>
          {state === 'running' && <Players players={server.players} />}
        </p>
        <p className="mt-0.5 flex min-w-0">
          <Place server={server} />
        </p>
      </div>
      <div role="cell">
        <Gauges listed={listed} />
      </div>
      <div role="cell">
        <RowActions listed={listed} />
      </div>
    </>
  )
}, showsSame)
