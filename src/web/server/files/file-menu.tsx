import { Ellipsis } from 'lucide-react'
import { lazy } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import type { FileEntry } from '../../api/files.ts'
import { IconButton } from '../../components/button.tsx'
import { Menu } from '../../components/menu.tsx'
import { kindOf } from './entries.ts'
import { useFilePermissions } from './files-context.tsx'

// Most visits open no menu of a file; the code comes while the pointer or the focus is on its button.
const load = () => import('./file-menu-items.tsx')
const preload = () => void load().catch(() => undefined)
const FileMenuItems = lazy(async () => ({ default: (await load()).FileMenuItems }))

/** The menu of one entry; nothing when the user has no action for it. */
export function FileMenu({ entry }: { entry: FileEntry }) {
  const { t } = useTranslation('files')
  const rights = useFilePermissions()
  const kind = kindOf(entry)
  const hasContent = kind === 'file' && (rights.read || rights.create)
  if (!hasContent && kind !== 'link' && !rights.update && !rights.pack && !rights.remove) return null
  return (
    <span className="contents" onPointerEnter={preload} onFocus={preload}>
      <Menu trigger={<IconButton icon={Ellipsis} label={t('actions_of', { name: entry.name })} />}>
        <FileMenuItems entry={entry} />
      </Menu>
    </span>
  )
}
