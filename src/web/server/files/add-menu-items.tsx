import { useNavigate } from '@tanstack/react-router'
import { CloudDownload, FilePlus, FolderPlus, FolderUp, Upload } from 'lucide-react'
import { useTranslation } from '../../app/use-translation.ts'
import { MenuItem, MenuSeparator } from '../../components/menu.tsx'
import { useServer } from '../server-context.tsx'
import { useFiles } from './files-context.tsx'
import { chooseFiles, type OnChosen } from './upload-area.tsx'

/** What can be made in the folder. */
export function NewItems() {
  const { t } = useTranslation('files')
  const { id } = useServer()
  const { directory, open } = useFiles()
  const navigate = useNavigate()
  const newFile = () =>
    void navigate({ to: '/server/$server/files/new', params: { server: id }, search: { directory } })
  return (
    <>
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
    </>
  )
}

/** What can be uploaded into the folder. */
export function UploadItems({ onChosen }: { onChosen: OnChosen }) {
  const { t } = useTranslation('files')
  const { directory } = useFiles()
  return (
    <>
      <MenuItem icon={Upload} onSelect={() => chooseFiles(directory, false, onChosen)}>
        {t('upload.files')}
      </MenuItem>
      <MenuItem icon={FolderUp} onSelect={() => chooseFiles(directory, true, onChosen)}>
        {t('upload.folder')}
      </MenuItem>
    </>
  )
}
