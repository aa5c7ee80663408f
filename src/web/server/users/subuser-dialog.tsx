import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { asRequestError } from '../../api/error.ts'
import { addSubuser, changeSubuser, permissionsQuery, type Subuser, subusersKey } from '../../api/subusers.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { FormError, TextField } from '../../components/field.tsx'
import { Loaded } from '../../components/states.tsx'
import { toast } from '../../components/toast.tsx'
import { useServer } from '../server-context.tsx'
import { PermissionMatrix } from './permission-matrix.tsx'

/** What everybody with access may do. */
const always = 'websocket.connect'

/** Lets somebody in, or changes what he may do. `person` null stands for somebody new. */
export function SubuserDialog({ person, onClose }: { person: Subuser | null; onClose: () => void }) {
  const { t } = useTranslation('users')
  const { id } = useServer()
  const queries = useQueryClient()
  const groups = useQuery(permissionsQuery)
  const [email, setEmail] = useState('')
  const [granted, setGranted] = useState<ReadonlySet<string>>(() => new Set(person?.permissions ?? [always]))
  const saving = useMutation({
    mutationFn: () =>
      person ? changeSubuser(id, person.uuid, [...granted]) : addSubuser(id, email, [...granted]),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: subusersKey(id) })
      toast(person ? t('changed') : t('added', { email }))
      onClose()
    },
  })
  const refusal = asRequestError(saving.error)
  const form = 'subuser-form'
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={person ? t('edit', { name: person.username }) : t('add')}
      text={person ? undefined : t('add_text')}
      width="large"
      actions={
        <>
          <Button onClick={onClose}>{t('strings:action.cancel')}</Button>
          <Button type="submit" form={form} look="primary" busy={saving.isPending}>
            {person ? t('strings:action.save') : t('add')}
          </Button>
        </>
      }
    >
      <form
        id={form}
        className="flex flex-col gap-5"
        onSubmit={(event) => {
          event.preventDefault()
          saving.mutate()
        }}
      >
        {!person && (
          <TextField
            label={t('strings:word.email')}
            type="email"
            required
            autoComplete="off"
            value={email}
            onChange={(event) => setEmail(event.target.value)}
            error={refusal?.fieldError('email')}
          />
        )}
        <FormError error={saving.error} fields={['email']} />
        <Loaded query={groups}>
          {(known) => <PermissionMatrix groups={known} granted={granted} onChange={setGranted} />}
        </Loaded>
      </form>
    </Dialog>
  )
}
