import { useQuery, useQueryClient } from '@tanstack/react-query'
import {
  FolderInput,
  ListChecks,
  type LucideIcon,
  Play,
  RotateCw,
  Skull,
  Square,
  Star,
  X,
} from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from '../app/use-translation.ts'
import {
  foldersQuery,
  loadedSummaries,
  type ServerSummary,
  type SummaryRequest,
  usePlacement,
} from '../api/server-list.ts'
import type { PowerSignal } from '../api/servers.ts'
import { Button, IconButton } from '../components/button.tsx'
import { classNames } from '../components/class-names.ts'
import { ConfirmDialog } from '../components/dialog.tsx'
import { Menu, MenuItem } from '../components/menu.tsx'
import { BulkDialog } from './bulk-dialog.tsx'
import { useBulkPower } from './bulk-power.ts'
import type { Selection } from './use-selection.ts'

const signals = [
  { signal: 'start', icon: Play },
  { signal: 'restart', icon: RotateCw },
  { signal: 'stop', icon: Square },
  { signal: 'kill', icon: Skull },
] as const satisfies { signal: PowerSignal; icon: LucideIcon }[]

/** Actions for the selected servers, of those that are loaded; stays visible while the list scrolls. */
export function BulkBar({ selection, request }: { selection: Selection; request: SummaryRequest }) {
  const { t } = useTranslation('home')
  const loaded = loadedSummaries(useQueryClient(), request)
  const bulk = useBulkPower()
  const [killing, setKilling] = useState(false)
  const selected = loaded.filter(({ identifier }) => selection.has(identifier))
  const isEmpty = selected.length === 0
  return (
    <div
      role="toolbar"
      aria-label={t('select.actions')}
      className="sticky bottom-[calc(0.75rem+var(--bottom-bar,0px))] z-20 mt-3 flex flex-wrap items-center gap-0.5 rounded-card border border-line-strong bg-surface p-1.5 shadow-xl sm:gap-1"
    >
      {/* On a phone the count and the way out have a line of their own. */}
      <p
        aria-live="polite"
        className="me-auto px-2 text-sm font-medium tabular-nums max-sm:basis-[calc(100%-2.75rem)]"
      >
        {t('select.count', { count: selected.length })}
      </p>
      <IconButton
        icon={X}
        label={t('select.end')}
        className="sm:order-last"
        onClick={() => selection.setActive(false)}
      />
      <Action
        icon={ListChecks}
        text={t('select.all')}
        onClick={() => selection.set(loaded.map(({ identifier }) => identifier))}
      />
      {signals.map(({ signal, icon }) => (
        <Action
          key={signal}
          icon={icon}
          text={t(`server:power.${signal}`)}
          isDanger={signal === 'kill'}
          disabled={isEmpty}
          onClick={() => (signal === 'kill' ? setKilling(true) : bulk.start(signal, selected))}
        />
      ))}
      <PlaceActions servers={selected} />
      <ConfirmDialog
        open={killing}
        onOpenChange={setKilling}
        title={t('server:power.kill_title')}
        text={t('server:power.kill_text')}
        action={t('server:power.kill')}
        onConfirm={() => {
          setKilling(false)
          bulk.start('kill', selected)
        }}
      />
      {bulk.run && <BulkDialog run={bulk.run} onCancel={bulk.cancel} onClose={bulk.clear} />}
    </div>
  )
}

/** Marks the servers as favourites, and puts them into a folder. */
function PlaceActions({ servers }: { servers: readonly ServerSummary[] }) {
  const { t } = useTranslation('home')
  const { data: folders = [] } = useQuery(foldersQuery)
  const placement = usePlacement()
  const identifiers = servers.map(({ identifier }) => identifier)
  const disabled = identifiers.length === 0
  const areMarked = servers.every(({ is_favourite }) => is_favourite)
  return (
    <>
      <Action
        icon={Star}
        text={areMarked && !disabled ? t('place.unmark') : t('place.mark')}
        disabled={disabled}
        onClick={() => placement.mutate({ servers: identifiers, favourite: !areMarked })}
      />
      {folders.length > 0 && (
        <Menu
          trigger={
            <Button
              variant="quiet"
              icon={FolderInput}
              aria-label={t('place.move')}
              disabled={disabled}
              className="min-w-9 px-2!"
            />
          }
        >
          {[{ id: null, name: t('place.no_folder') }, ...folders].map(({ id, name }) => (
            <MenuItem
              key={id ?? 'none'}
              onSelect={() => placement.mutate({ servers: identifiers, folder: id })}
            >
              {name}
            </MenuItem>
          ))}
        </Menu>
      )}
    </>
  )
}

/** Its label is shown when there is room. */
const Action = ({
  icon,
  text,
  isDanger = false,
  disabled = false,
  onClick,
}: {
  icon: LucideIcon
  text: string
  isDanger?: boolean
  disabled?: boolean
  onClick: () => void
}) => (
  <Button
    variant="quiet"
    icon={icon}
    aria-label={text}
    disabled={disabled}
    onClick={onClick}
    className={classNames('min-w-9 px-2! sm:px-3!', isDanger && 'text-bad!')}
  >
    <span className="hidden xl:inline">{text}</span>
  </Button>
)
