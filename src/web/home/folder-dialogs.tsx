import { type FormEvent, useId, useState } from 'react'
import { useTranslation } from '../app/use-translation.ts'
import { asRequestError } from '../api/error.ts'
import { createFolder, deleteFolder, renameFolder, useFolderChange } from '../api/server-folders.ts'
import type { ServerFolder } from '../api/server-list.ts'
import { Button } from '../components/button.tsx'
import { ConfirmDialog, Dialog } from '../components/dialog.tsx'
import { FormError, TextField } from '../components/field.tsx'

const maxNameLength = 50

/** Asks for the name of a new folder, or of one that is renamed. */
export function FolderDialog({
  folder,
  onClose,
  onCreated,
}: {
  folder: ServerFolder | null
  onClose: () => void
  onCreated: (folder: ServerFolder) => void
}) {
  const { t } = useTranslation('home')
  const form = useId()
  const [name, setName] = useState(folder?.name ?? '')
  const change = useFolderChange(async (text: string) =>
    folder ? renameFolder({ id: folder.id, name: text }) : onCreated(await createFolder(text)),
  )
  const fieldError = asRequestError(change.error)?.fieldError('name')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    change.mutate(name.trim(), { onSuccess: onClose })
  }
  return (
    <Dialog
      open
      onOpenChange={onClose}
      width="small"
      title={folder ? t('place.rename', { folder: folder.name }) : t('place.create')}
      text={t('place.private')}
      actions={
        <>
          <Button onClick={onClose}>{t('strings:action.cancel')}</Button>
          <Button
            variant="primary"
            type="submit"
            form={form}
            busy={change.isPending}
            disabled={name.trim() === ''}
          >
            {folder ? t('strings:action.save') : t('strings:action.create')}
          </Button>
        </>
      }
    >
      <form id={form} onSubmit={submit} className="flex flex-col gap-3">
        <TextField
          label={t('strings:word.name')}
          value={name}
          maxLength={maxNameLength}
          error={fieldError}
          onChange={({ target }) => setName(target.value)}
        />
        {!fieldError && <FormError error={change.error} />}
      </form>
    </Dialog>
  )
}

/** Asks whether a folder is to be deleted. */
export function DeleteDialog({
  folder,
  onClose,
  onDeleted,
}: {
  folder: ServerFolder
  onClose: () => void
  onDeleted: () => void
}) {
  const { t } = useTranslation('home')
  // Its tab, and this dialog with it, is gone once the folders are read again.
  const deletion = useFolderChange(async (id: number) => {
    await deleteFolder(id)
    onClose()
    onDeleted()
  })
  return (
    <ConfirmDialog
      open
      onOpenChange={onClose}
      title={t('place.delete_title', { folder: folder.name })}
      text={t('place.delete_text')}
      action={t('strings:action.delete')}
      busy={deletion.isPending}
      error={deletion.error}
      onConfirm={() => deletion.mutate(folder.id)}
    />
  )
}
