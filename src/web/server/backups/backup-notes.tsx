import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useId } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { type Backup, backupsKey, changeBackupNotes } from '../../api/backups.ts'
import { asRequestError } from '../../api/error.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { FormError, TextArea } from '../../components/field.tsx'
import { toast } from '../../components/toast.tsx'
import { useServer } from '../server-context.tsx'

const maxLength = 500

/** Edits the note about a backup. */
export function BackupNotes({ backup, onClose }: { backup: Backup; onClose: () => void }) {
  const { t } = useTranslation('backups')
  const { id } = useServer()
  const queries = useQueryClient()
  const form = useId()
  const save = useMutation({
    mutationFn: (notes: string) => changeBackupNotes(id, backup.uuid, notes),
    onSuccess: () => {
      toast(t('notes_saved'))
      onClose()
      return queries.invalidateQueries({ queryKey: backupsKey(id) })
    },
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    save.mutate(String(new FormData(event.currentTarget).get('notes')).trim())
  }
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={t('notes_title', { name: backup.name })}
      width="small"
      actions={
        <>
          <Button onClick={onClose}>{t('strings:action.cancel')}</Button>
          <Button type="submit" form={form} variant="primary" busy={save.isPending}>
            {t('strings:action.save')}
          </Button>
        </>
      }
    >
      <form id={form} onSubmit={submit} className="flex flex-col gap-4">
        <TextArea
          label={t('notes')}
          name="notes"
          defaultValue={backup.notes ?? ''}
          maxLength={maxLength}
          hint={t('notes_hint')}
          error={asRequestError(save.error)?.fieldError('notes')}
        />
        <FormError error={save.error} fields={['notes']} />
      </form>
    </Dialog>
  )
}
