import { Link } from '@tanstack/react-router'
import {
  Archive,
  Copy,
  Download,
  FolderInput,
  FolderOpen,
  KeyRound,
  OctagonX,
  PackageOpen,
  Pencil,
  Trash,
} from 'lucide-react'
import { useTranslation } from '../../app/use-translation.ts'
import type { FileEntry } from '../../api/files.ts'
import { MenuItem, MenuLink, MenuSeparator } from '../../components/menu.tsx'
import { useServer } from '../server-context.tsx'
import { isArchive, kindOf } from './entries.ts'
import { useTrash } from './file-actions.ts'
import { useNodeTasks } from './node-tasks.ts'
import { useFilePermissions, useFiles, useHasTrash } from './files-context.tsx'
import { joinPath } from './paths.ts'
import { useDownload } from './use-download.ts'

/** The actions for one entry, in its menu. */
export const FileMenuItems = ({ entry }: { entry: FileEntry }) => (
  <>
    <MoveItems entry={entry} />
    <ContentItems entry={entry} />
    <RemoveItems entry={entry} />
  </>
)

function MoveItems({ entry }: { entry: FileEntry }) {
  const { t } = useTranslation('files')
  const { open } = useFiles()
  const rights = useFilePermissions()
  if (!rights.update) return null
  return (
    <>
      <MenuItem icon={Pencil} onSelect={() => open({ kind: 'rename', entry })}>
        {t('strings:action.rename')}
      </MenuItem>
      <MenuItem icon={FolderInput} onSelect={() => open({ kind: 'move', names: [entry.name] })}>
        {t('move')}
      </MenuItem>
      <MenuItem icon={KeyRound} onSelect={() => open({ kind: 'modes', entries: [entry] })}>
        {t('permissions')}
      </MenuItem>
    </>
  )
}

function ContentItems({ entry }: { entry: FileEntry }) {
  const { t } = useTranslation('files')
  const { id } = useServer()
  const { directory } = useFiles()
  const rights = useFilePermissions()
  const work = useNodeTasks()
  const { download } = useDownload()
  const kind = kindOf(entry)
  const path = joinPath(directory, entry.name)
  return (
    <>
      {kind === 'link' && (
        <MenuLink>
          <Link to="/server/$server/files" params={{ server: id }} search={{ directory: path }}>
            <FolderOpen aria-hidden className="size-4" /> {t('open_folder')}
          </Link>
        </MenuLink>
      )}
      {kind === 'folder' && rights.read && rights.pack && (
        <MenuItem icon={Download} onSelect={() => work.downloadAll([entry.name])}>
          {t('strings:action.download')}
        </MenuItem>
      )}
      {kind === 'file' && rights.read && (
        <MenuItem icon={Download} onSelect={() => download(path)}>
          {t('strings:action.download')}
        </MenuItem>
      )}
      {kind === 'file' && rights.create && (
        <MenuItem icon={Copy} onSelect={() => work.copy(entry.name)}>
          {t('copy')}
        </MenuItem>
      )}
      {rights.pack && (
        <MenuItem icon={Archive} onSelect={() => work.pack([entry.name])}>
          {t('archive')}
        </MenuItem>
      )}
      {isArchive(entry) && rights.create && (
        <MenuItem icon={PackageOpen} onSelect={() => work.unpack(entry.name)}>
          {t('unpack')}
        </MenuItem>
      )}
    </>
  )
}

function RemoveItems({ entry }: { entry: FileEntry }) {
  const { t } = useTranslation('files')
  const { open } = useFiles()
  const rights = useFilePermissions()
  const hasTrash = useHasTrash()
  const trash = useTrash()
  if (!rights.remove) return null
  return (
    <>
      <MenuSeparator />
      {hasTrash && (
        <MenuItem icon={Trash} onSelect={() => trash.mutate([entry.name])}>
          {t('to_trash')}
        </MenuItem>
      )}
      <MenuItem icon={OctagonX} danger onSelect={() => open({ kind: 'delete', names: [entry.name] })}>
        {t('delete')}
      </MenuItem>
    </>
  )
}
