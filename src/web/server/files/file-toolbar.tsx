import { Link } from '@tanstack/react-router'
import { FolderSearch, Plus, Search, Trash, Upload } from 'lucide-react'
import { lazy } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { Button, buttonStyle } from '../../components/button.tsx'
import { controlStyle } from '../../components/field.tsx'
import { Menu } from '../../components/menu.tsx'
import { useServer } from '../server-context.tsx'
import { useFilePermissions, useHasTrash } from './files-context.tsx'
import type { OnChosen } from './upload-area.tsx'

// The code of the items comes while the pointer or the focus is on a button.
const load = () => import('./add-menu-items.tsx')
const preload = () => void load().catch(() => undefined)
const NewItems = lazy(async () => ({ default: (await load()).NewItems }))
const UploadItems = lazy(async () => ({ default: (await load()).UploadItems }))

/** Buttons to add files and folders, and the link to the trash. */
export function FilesHeaderActions({ onChosen }: { onChosen: OnChosen }) {
  const { t } = useTranslation('files')
  const { id, can } = useServer()
  const rights = useFilePermissions()
  const hasTrash = useHasTrash()
  return (
    <>
      {hasTrash && can('file.read') && (
        <Link to="/server/$server/trash" params={{ server: id }} className={buttonStyle('quiet')}>
          <Trash aria-hidden className="size-4" /> {t('trash:title')}
        </Link>
      )}
      {rights.create && (
        <span className="contents" onPointerEnter={preload} onFocus={preload}>
          <Menu trigger={<Button icon={Plus}>{t('new')}</Button>}>
            <NewItems />
          </Menu>
          <Menu
            trigger={
              <Button variant="primary" icon={Upload}>
                {t('strings:action.upload')}
              </Button>
            }
          >
            <UploadItems onChosen={onChosen} />
          </Menu>
        </span>
      )}
    </>
  )
}

/** Filters the entries by name and shows how many match. */
export function FilterField({
  value,
  onChange,
  shown,
  total,
  onSearch,
}: {
  value: string
  onChange: (value: string) => void
  shown: number
  total: number
  /** Searches the folders below, too. */
  onSearch: () => void
}) {
  const { t } = useTranslation('files')
  const isEmpty = value.trim() === ''
  return (
    <form
      role="search"
      className="flex flex-wrap items-center gap-3"
      onSubmit={(event) => {
        event.preventDefault()
        if (!isEmpty) onSearch()
      }}
    >
      <label className="relative w-full sm:w-72">
        <span className="sr-only">{t('filter')}</span>
        <Search aria-hidden className="absolute top-2.5 start-3 size-4 text-muted" />
        <input
          type="search"
          value={value}
          placeholder={t('filter')}
          onChange={(event) => onChange(event.target.value)}
          className={`${controlStyle} ps-9`}
        />
      </label>
      <p aria-live="polite" className="text-sm text-muted tabular-nums">
        {value === '' ? t('entries', { count: total }) : t('entries_of', { count: total, shown })}
      </p>
      {!isEmpty && (
        <Button type="submit" icon={FolderSearch}>
          {t('search.start')}
        </Button>
      )}
    </form>
  )
}
