import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useId } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { createDatabase, type Database, databasesKey, type NewDatabase } from '../../api/databases.ts'
import { asRequestError } from '../../api/error.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { FormError, TextField } from '../../components/field.tsx'
import { toast } from '../../components/toast.tsx'
import { useServer } from '../server-context.tsx'

const fields = ['database', 'remote']

type Props = { onClose: () => void; onCreated: (database: Database) => void }

/** Asks for a name and the allowed hosts, then creates a database. */
export function CreateDatabase({ onClose, onCreated }: Props) {
  const { t } = useTranslation('databases')
  const { id } = useServer()
  const queries = useQueryClient()
  const form = useId()
  const create = useMutation({
    mutationFn: (body: NewDatabase) => createDatabase(id, body),
    onSuccess: (database) => {
      toast(t('created'))
      onCreated(database)
      return queries.invalidateQueries({ queryKey: databasesKey(id) })
    },
  })
  const requestError = asRequestError(create.error)
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const data = new FormData(event.currentTarget)
    create.mutate({ database: String(data.get('database')), remote: String(data.get('remote')) })
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
      <form id={form} onSubmit={submit} noValidate className="flex flex-col gap-4">
        <TextField
          label={t('strings:word.name')}
          name="database"
          maxLength={48}
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
          hint={t('name_hint')}
          error={requestError?.fieldError('database')}
        />
        <TextField
          label={t('connections_from')}
          name="remote"
          defaultValue="%"
          autoComplete="off"
          spellCheck={false}
          hint={t('connections_from_hint')}
          error={requestError?.fieldError('remote')}
        />
        <FormError error={create.error} fields={fields} />
      </form>
    </Dialog>
  )
}
