import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { asRequestError } from '../../api/error.ts'
import { addSubuser, changeSubuser, permissionsQuery, type Subuser, subusersKey } from '../../api/subusers.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { FormError, TextField } from '../../components/field.tsx'
import { Loaded } from '../../components/states.tsx'
import { toast } from '../../components/toast.tsx'
import { useServer } from '../server-context.tsx'
import { PermissionMatrix } from './permission-matrix.tsx'

/** Permissions that every subuser has. */
const implicitPermissions = 'websocket.connect'

/** Invites a subuser or changes their permissions; `subuser` is null for a new one. */
export function SubuserDialog({ subuser, onClose }: { subuser: Subuser | null; onClose: () => void }) {
  const { t } = useTranslation('users')
  const { id } = useServer()
  const queries = useQueryClient()
  const groups = useQuery(permissionsQuery)
  const [email, setEmail] = useState('')
  const [granted, setGranted] = useState<ReadonlySet<string>>(
    () => new Set(subuser?.permissions ?? [implicitPermissions]),
  )
  const saving = useMutation({
    mutationFn: () =>
      subuser ? changeSubuser(id, subuser.uuid, [...granted]) : addSubuser(id, email, [...granted]),
    onSuccess: async ({ pending }) => {
      await queries.invalidateQueries({ queryKey: subusersKey(id) })
      toast(subuser ? t('changed') : t(pending ? 'invited' : 'added', { email }))
      onClose()
    },
  })
  const [isUnchosen, setUnchosen] = useState(false)
  const requestError = asRequestError(saving.error)
  const choose = (next: ReadonlySet<string>) => {
    setUnchosen(false)
    setGranted(next)
  }
  // An invitation without a choice lets its user in to nothing.
  const submit = () => {
    const hasChoice = subuser !== null || [...granted].some((name) => name !== implicitPermissions)
    if (hasChoice) saving.mutate()
    else setUnchosen(true)
  }
  const form = 'subuser-form'
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={subuser ? t('edit', { name: subuser.username }) : t('add')}
      text={subuser ? undefined : t('add_text')}
      width="large"
      actions={
        <>
          <Button onClick={onClose}>{t('strings:action.cancel')}</Button>
          <Button type="submit" form={form} variant="primary" busy={saving.isPending}>
            {subuser ? t('strings:action.save') : t('add')}
          </Button>
        </>
      }
    >
      <form
        id={form}
        className="flex flex-col gap-5"
        onSubmit={(event) => {
          event.preventDefault()
          submit()
        }}
      >
        {!subuser && (
          <TextField
            label={t('strings:word.email')}
            type="email"
            required
            autoComplete="off"
            value={email}
            onChange={(event) => setEmail(event.target.value)}
            error={requestError?.fieldError('email')}
          />
        )}
        <FormError error={saving.error} fields={['email']} />
        <Loaded query={groups}>
          {(known) => (
            <PermissionMatrix
              groups={known}
              granted={granted}
              onChange={choose}
              error={isUnchosen ? t('unchosen') : undefined}
            />
          )}
        </Loaded>
      </form>
    </Dialog>
  )
}
