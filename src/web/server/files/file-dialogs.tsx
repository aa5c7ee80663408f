import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useTranslation } from '../../app/use-translation.ts'
import { createFolder } from '../../api/files.ts'
import { asRequestError } from '../../api/error.ts'
import { Banner } from '../../components/badge.tsx'
import { ConfirmDialog } from '../../components/dialog.tsx'
import { useServer } from '../server-context.tsx'
import { useDelete, useRename } from './file-actions.ts'
import { type OpenDialog, useFiles } from './files-context.tsx'
import { ModesDialog } from './modes-dialog.tsx'
import { MoveDialog } from './move-dialog.tsx'
import { NameDialog } from './name-dialog.tsx'
import { PullDialog } from './pull-dialog.tsx'

/** Renders the open dialog. */
export function FileDialogs({ dialog, onClose }: { dialog: OpenDialog; onClose: () => void }) {
  switch (dialog.kind) {
    case 'folder':
      return <FolderDialog onClose={onClose} />
    case 'pull':
      return <PullDialog onClose={onClose} />
    case 'rename':
      return <RenameDialog name={dialog.entry.name} onClose={onClose} />
    case 'move':
      return <MoveDialog names={dialog.names} onClose={onClose} />
    case 'modes':
      return <ModesDialog entries={dialog.entries} onClose={onClose} />
    case 'delete':
      return (
        <DeleteDialog
          names={dialog.names}
          isTrashDisabled={dialog.isTrashDisabled ?? false}
          onClose={onClose}
        />
      )
  }
}

function RenameDialog({ name, onClose }: { name: string; onClose: () => void }) {
  const { t } = useTranslation('files')
  const { entries } = useFiles()
  const rename = useRename()
  return (
    <NameDialog
      title={t('rename_title', { name })}
      label={t('new_name')}
      action={t('strings:action.rename')}
      initial={name}
      existingNames={entries.map((entry) => entry.name)}
      onClose={onClose}
      onSubmit={(to) => {
        rename.mutate({ from: name, to })
        onClose()
      }}
    />
  )
}

function FolderDialog({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation('files')
  const { id } = useServer()
  const { directory, entries } = useFiles()
  const client = useQueryClient()
  const create = useMutation({
    mutationFn: (name: string) => createFolder(id, directory, name),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ['files', id] })
      onClose()
    },
  })
  return (
    <NameDialog
      title={t('new_folder')}
      label={t('folder_name')}
      action={t('strings:action.create')}
      initial=""
      existingNames={entries.map((entry) => entry.name)}
      busy={create.isPending}
      error={create.error}
      fieldError={asRequestError(create.error)?.fieldError('name')}
      onClose={onClose}
      onSubmit={(name) => create.mutate(name)}
    />
  )
}

function DeleteDialog({
  names,
  isTrashDisabled,
  onClose,
}: {
  names: readonly string[]
  isTrashDisabled: boolean
  onClose: () => void
}) {
  const { t } = useTranslation('files')
  const remove = useDelete()
  const shown = names.slice(0, 8)
  const hiddenCount = names.length - shown.length
  return (
    <ConfirmDialog
      open
      onOpenChange={onClose}
      title={t('delete_title')}
      text={t('delete_text', { count: names.length })}
      action={t('delete')}
      onConfirm={() => {
        remove.mutate(names)
        onClose()
      }}
    >
      {isTrashDisabled && (
        <Banner tone="warn" title={t('no_trash')}>
          {t('no_trash_text')}
        </Banner>
      )}
      <ul className="flex flex-col gap-0.5 rounded-control bg-raised px-3 py-2 text-sm">
        {shown.map((name) => (
          <li key={name} className="wrap-anywhere">
            {name}
          </li>
        ))}
        {hiddenCount > 0 && <li className="text-muted">{t('more', { count: hiddenCount })}</li>}
      </ul>
    </ConfirmDialog>
  )
}
