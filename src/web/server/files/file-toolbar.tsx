import { Link, useNavigate } from '@tanstack/react-router'
import { CloudDownload, FilePlus, FolderPlus, FolderUp, Plus, Search, Trash, Upload } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { Button, buttonStyle } from '../../components/button.tsx'
import { controlStyle } from '../../components/field.tsx'
import { Menu, MenuItem, MenuSeparator } from '../../components/menu.tsx'
import { useServer } from '../server-context.tsx'
import { useFilePermissions, useFiles, useHasTrash } from './files-context.tsx'
import { chooseFiles } from './upload-area.tsx'
import type { ChosenFile } from './upload-queue.ts'

/** Buttons to add files and folders, and the link to the trash. */
export function FilesHeaderActions({
  onChosen,
}: {
  onChosen: (chosen: Promise<readonly ChosenFile[]> | readonly ChosenFile[]) => void
}) {
  const { t } = useTranslation('files')
  const { id } = useServer()
  const { directory, open } = useFiles()
  const navigate = useNavigate()
  const rights = useFilePermissions()
  const hasTrash = useHasTrash()
  const newFile = () =>
    void navigate({ to: '/server/$server/files/new', params: { server: id }, search: { directory } })
  return (
    <>
      {hasTrash && (
        <Link to="/server/$server/trash" params={{ server: id }} className={buttonStyle('quiet')}>
          <Trash aria-hidden className="size-4" /> {t('trash:title')}
        </Link>
      )}
      {rights.create && (
        <>
          <Menu trigger={<Button icon={Plus}>{t('new')}</Button>}>
            <MenuItem icon={FilePlus} onSelect={newFile}>
              {t('new_file')}
            </MenuItem>
            <MenuItem icon={FolderPlus} onSelect={() => open({ kind: 'folder' })}>
              {t('new_folder')}
            </MenuItem>
            <MenuSeparator />
            <MenuItem icon={CloudDownload} onSelect={() => open({ kind: 'pull' })}>
              {t('pull')}
            </MenuItem>
          </Menu>
          <Menu
            trigger={
              <Button variant="primary" icon={Upload}>
                {t('strings:action.upload')}
              </Button>
            }
          >
            <MenuItem icon={Upload} onSelect={() => chooseFiles(directory, false, onChosen)}>
              {t('upload.files')}
            </MenuItem>
            <MenuItem icon={FolderUp} onSelect={() => chooseFiles(directory, true, onChosen)}>
              {t('upload.folder')}
            </MenuItem>
          </Menu>
        </>
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
}: {
  value: string
  onChange: (value: string) => void
  shown: number
  total: number
}) {
  const { t } = useTranslation('files')
  return (
    <div className="flex flex-wrap items-center gap-3">
      <label className="relative w-full sm:w-72">
        <span className="sr-only">{t('filter')}</span>
        <Search aria-hidden className="absolute top-2.5 left-3 size-4 text-muted" />
        <input
          type="search"
          value={value}
          placeholder={t('filter')}
          onChange={(event) => onChange(event.target.value)}
          className={`${controlStyle} pl-9`}
        />
      </label>
      <p aria-live="polite" className="text-sm text-muted tabular-nums">
        {value === '' ? t('entries', { count: total }) : t('entries_of', { count: total, shown })}
      </p>
    </div>
  )
}
