import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { asRequestError } from '../../api/error.ts'
import { renameServer } from '../../api/server-settings.ts'
import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { FormError, TextArea, TextField } from '../../components/field.tsx'
import { toast } from '../../components/toast.tsx'
import { useServer } from '../server-context.tsx'
import { isBlocked } from '../server-state.ts'

/** Changes the name and description of the server. */
export function DetailsCard() {
  const { t } = useTranslation('settings')
  const { id, server } = useServer()
  const queries = useQueryClient()
  const [name, setName] = useState(server.name)
  const [description, setDescription] = useState(server.description)
  const saving = useMutation({
    mutationFn: () => renameServer(id, name, description),
    onSuccess: async () => {
      await Promise.all([
        queries.invalidateQueries({ queryKey: ['server', id] }),
        queries.invalidateQueries({ queryKey: ['summaries'] }),
      ])
      toast(t('details_saved'))
    },
  })
  const requestError = asRequestError(saving.error)
  const isSame = name === server.name && description === server.description
  return (
    <Card title={t('details')}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          saving.mutate()
        }}
      >
        <TextField
          label={t('strings:word.name')}
          value={name}
          onChange={(event) => setName(event.target.value)}
          error={requestError?.fieldError('name')}
        />
        <TextArea
          label={t('strings:word.description')}
          value={description}
          onChange={(event) => setDescription(event.target.value)}
          error={requestError?.fieldError('description')}
        />
        <FormError error={saving.error} fields={['name', 'description']} />
        <Button
          type="submit"
          variant="primary"
          className="self-end"
          busy={saving.isPending}
          disabled={isSame || isBlocked(server)}
        >
          {t('strings:action.save')}
        </Button>
      </form>
    </Card>
  )
}
