import { useQuery } from '@tanstack/react-query'
import { Folder, FolderPlus, type LucideIcon, Pencil, Server, Star, Trash2 } from 'lucide-react'
import { lazy, Suspense, useState } from 'react'
import { useTranslation } from '../app/use-translation.ts'
import { foldersQuery, type ServerFolder } from '../api/server-list.ts'
import { formatNumber } from '../app/formats.ts'
import { IconButton } from '../components/button.tsx'
import { classNames } from '../components/class-names.ts'
import type { HomeSearch } from './home-search.ts'

// Folders are seldom changed.
const dialogs = () => import('./folder-dialogs.tsx')
const FolderDialog = lazy(async () => ({ default: (await dialogs()).FolderDialog }))
const DeleteDialog = lazy(async () => ({ default: (await dialogs()).DeleteDialog }))

type Place = HomeSearch['place']

/** All servers, the favourites and the folders of the user; one of them is shown. */
export function PlaceTabs({ place, onPlace }: { place: Place; onPlace: (place: Place) => void }) {
  const { t } = useTranslation('home')
  const { data: folders = [] } = useQuery(foldersQuery)
  const [naming, setNaming] = useState<'new' | ServerFolder | null>(null)
  const [deleting, setDeleting] = useState(false)
  const shown = folders.find(({ id }) => id === place)
  return (
    <div className="flex items-center gap-1 pb-3">
      <div
        role="group"
        aria-label={t('place.label')}
        className="flex min-w-0 items-center gap-1 overflow-x-auto p-0.5"
      >
        <Tab
          icon={Server}
          text={t('place.all')}
          isShown={place === undefined}
          onClick={() => onPlace(undefined)}
        />
        <Tab
          icon={Star}
          text={t('place.favourites')}
          isShown={place === 'favourites'}
          onClick={() => onPlace('favourites')}
        />
        {folders.map(({ id, name, servers }) => (
          <Tab
            key={id}
            icon={Folder}
            text={name}
            count={servers}
            isShown={place === id}
            onClick={() => onPlace(id)}
          />
        ))}
      </div>
      <IconButton icon={FolderPlus} label={t('place.create')} onClick={() => setNaming('new')} />
      {shown && (
        <>
          <IconButton
            icon={Pencil}
            label={t('place.rename', { folder: shown.name })}
            onClick={() => setNaming(shown)}
          />
          <IconButton
            icon={Trash2}
            label={t('place.delete', { folder: shown.name })}
            onClick={() => setDeleting(true)}
          />
        </>
      )}
      {shown && deleting && (
        <Suspense>
          <DeleteDialog
            folder={shown}
            onClose={() => setDeleting(false)}
            onDeleted={() => onPlace(undefined)}
          />
        </Suspense>
      )}
      {naming !== null && (
        <Suspense>
          <FolderDialog
            folder={naming === 'new' ? null : naming}
            onClose={() => setNaming(null)}
            onCreated={({ id }) => onPlace(id)}
          />
        </Suspense>
      )}
    </div>
  )
}

function Tab({
  icon: Icon,
  text,
  count,
  isShown,
  onClick,
}: {
  icon: LucideIcon
  text: string
  count?: number
  isShown: boolean
  onClick: () => void
}) {
  return (
    <button
      type="button"
      aria-pressed={isShown}
      onClick={onClick}
      className={classNames(
        'flex min-h-8 shrink-0 items-center gap-1.5 rounded-full px-3 text-sm whitespace-nowrap transition-colors',
        isShown ? 'bg-brand-soft font-medium text-brand-text' : 'text-muted hover:bg-raised hover:text-ink',
      )}
    >
      <Icon aria-hidden className="size-3.5 shrink-0" />
      <span className="max-w-40 truncate">{text}</span>
      {count !== undefined && <span className="text-xs tabular-nums">{formatNumber(count)}</span>}
    </button>
  )
}
