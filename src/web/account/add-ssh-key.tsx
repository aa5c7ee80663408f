import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useId, useState } from 'react'
import { useTranslation } from '../app/use-translation.ts'
import { addSshKey, sshKeysQuery } from '../api/account.ts'
import { asRequestError } from '../api/error.ts'
import { Button } from '../components/button.tsx'
import { Dialog } from '../components/dialog.tsx'
import { FormError, TextArea, TextField } from '../components/field.tsx'
import { toast } from '../components/toast.tsx'

/** Returns the comment of a public key, which is usually the name its owner gave it. */
const commentOf = (line: string) => line.trim().split(/\s+/).slice(2).join(' ')

/** Shows the form that adds an SSH public key. */
export function AddSshKey({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation('account')
  const queries = useQueryClient()
  const form = useId()
  const [name, setName] = useState('')
  const [publicKey, setPublicKey] = useState('')
  const adding = useMutation({
    mutationFn: () => addSshKey({ name, public_key: publicKey }),
    onSuccess: () => {
      toast(t('ssh_keys.added'))
      onClose()
      return queries.invalidateQueries({ queryKey: sshKeysQuery.queryKey })
    },
  })
  const requestError = asRequestError(adding.error)
  const write = (line: string) => {
    setPublicKey(line)
    if (name === '') setName(commentOf(line))
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!adding.isPending) adding.mutate()
  }
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={t('ssh_keys.add')}
      actions={
        <>
          <Button onClick={onClose}>{t('strings:action.cancel')}</Button>
          <Button type="submit" form={form} variant="primary" busy={adding.isPending}>
            {t('strings:action.add')}
          </Button>
        </>
      }
    >
      <form id={form} onSubmit={submit} className="flex flex-col gap-4">
        <TextArea
          label={t('ssh_keys.public_key')}
          hint={t('ssh_keys.public_key_text')}
          error={requestError?.fieldError('public_key')}
          required
          autoComplete="off"
          spellCheck={false}
          placeholder="ssh-ed25519 AAAA…"
          value={publicKey}
          onChange={(event) => write(event.target.value)}
        />
        <TextField
          label={t('ssh_keys.name')}
          error={requestError?.fieldError('name')}
          required
          maxLength={191}
          autoComplete="off"
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        <FormError error={adding.error} fields={['public_key', 'name']} />
      </form>
    </Dialog>
  )
}
