import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useId, useState } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { backupsKey, createBackup, type NewBackup } from '../../api/backups.ts'
import { asRequestError } from '../../api/error.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { TextArea, TextField } from '../../components/field.tsx'
import { Checkbox } from '../../components/switch.tsx'
import { toast } from '../../components/toast.tsx'
import { useServer } from '../server-context.tsx'
import { BackupError } from './backup-error.tsx'

const fields = ['name', 'ignored', 'is_locked']

/** Asks for the name and the ignored files, then starts a backup. */
export function CreateBackup({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation('backups')
  const { id, can } = useServer()
  const queries = useQueryClient()
  const form = useId()
  const [isLocked, setLocked] = useState(false)
  const create = useMutation({
    mutationFn: (body: NewBackup) => createBackup(id, body),
    onSuccess: () => {
      toast(t('started'))
      onClose()
      return queries.invalidateQueries({ queryKey: backupsKey(id) })
    },
  })
  const requestError = asRequestError(create.error)
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const data = new FormData(event.currentTarget)
    create.mutate({
      name: String(data.get('name')),
      ignored: String(data.get('ignored')),
      is_locked: isLocked,
    })
  }
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={t('create')}
      text={t('create_text')}
      actions={
        <>
          <Button onClick={onClose}>{t('strings:action.cancel')}</Button>
          <Button type="submit" form={form} variant="primary" busy={create.isPending}>
            {t('create')}
          </Button>
        </>
      }
    >
      <form id={form} onSubmit={submit} className="flex flex-col gap-4">
        <TextField
          label={t('strings:word.name')}
          name="name"
          maxLength={191}
          autoComplete="off"
          hint={t('name_hint')}
          error={requestError?.fieldError('name')}
        />
        <TextArea
          mono
          label={t('ignored')}
          name="ignored"
          spellCheck={false}
          placeholder={'cache/\n*.log'}
          hint={t('ignored_hint')}
          error={requestError?.fieldError('ignored')}
        />
        {can('backup.delete') && (
          <Checkbox label={t('lock')} hint={t('lock_hint')} checked={isLocked} onChange={setLocked} />
        )}
        <BackupError error={create.error} submittedAt={create.submittedAt} fields={fields} />
      </form>
    </Dialog>
  )
}
