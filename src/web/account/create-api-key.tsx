import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useId, useState } from 'react'
import { useTranslation } from '../app/use-translation.ts'
import { apiKeysQuery, createApiKey } from '../api/account.ts'
import { asRequestError, type RequestError } from '../api/error.ts'
import { Button } from '../components/button.tsx'
import { CopyButton } from '../components/copy-button.tsx'
import { Dialog } from '../components/dialog.tsx'
import { FormError, TextArea, TextField } from '../components/field.tsx'

/** Creates an API key and shows it once. */
export function CreateApiKey({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient()
  const [key, setKey] = useState<string | null>(null)
  const created = (key: string) => {
    setKey(key)
    void queries.invalidateQueries({ queryKey: apiKeysQuery.queryKey })
  }
  if (key !== null) return <NewKey apiKey={key} onClose={onClose} />
  return <Form onClose={onClose} onCreated={created} />
}

const splitAddresses = (text: string) =>
  text
    .split(/[\s,]+/)
    .map((address) => address.trim())
    .filter(Boolean)

/**
 * Returns the address that the panel refused as `allowed_ips.<index>`, or the error text when the whole list was
 * refused.
 */
const refusedAddress = (
  addresses: readonly string[],
  { meta, detail }: RequestError['entries'][number],
): string => addresses[Number(meta?.source_field?.split('.')[1])] ?? detail

function Form({ onClose, onCreated }: { onClose: () => void; onCreated: (key: string) => void }) {
  const { t } = useTranslation('account')
  const form = useId()
  const [description, setDescription] = useState('')
  const [addresses, setAddresses] = useState('')
  const creating = useMutation({
    mutationFn: (allowed_ips: string[]) => createApiKey({ description, allowed_ips }),
    onSuccess: onCreated,
  })
  const requestError = asRequestError(creating.error)
  // The panel reports each address as a field of its own.
  const addressErrors =
    requestError?.entries.filter(({ meta }) => meta?.source_field?.startsWith('allowed_ips')) ?? []
  const fields = ['description', ...addressErrors.map(({ meta }) => meta?.source_field ?? '')]
  const refusedAddresses = addressErrors
    .map((entry) => refusedAddress(creating.variables ?? [], entry))
    .join(', ')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!creating.isPending) creating.mutate(splitAddresses(addresses))
  }
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={t('api_keys.add')}
      width="small"
      actions={
        <>
          <Button onClick={onClose}>{t('strings:action.cancel')}</Button>
          <Button type="submit" form={form} variant="primary" busy={creating.isPending}>
            {t('strings:action.create')}
          </Button>
        </>
      }
    >
      <form id={form} onSubmit={submit} className="flex flex-col gap-4">
        <TextField
          label={t('api_keys.description')}
          hint={t('api_keys.description_text')}
          error={requestError?.fieldError('description')}
          required
          maxLength={500}
          autoComplete="off"
          value={description}
          onChange={(event) => setDescription(event.target.value)}
        />
        <TextArea
          label={t('api_keys.allowed_ips')}
          hint={t('api_keys.allowed_ips_text')}
          error={
            refusedAddresses === ''
              ? undefined
              : t('api_keys.allowed_ips_refused', { entries: refusedAddresses })
          }
          autoComplete="off"
          spellCheck={false}
          value={addresses}
          onChange={(event) => setAddresses(event.target.value)}
        />
        <FormError error={creating.error} fields={fields} />
      </form>
    </Dialog>
  )
}

function NewKey({ apiKey, onClose }: { apiKey: string; onClose: () => void }) {
  const { t } = useTranslation('account')
  return (
    <Dialog
      open
      isShownOnce
      onOpenChange={onClose}
      title={t('api_keys.secret_title')}
      text={t('api_keys.secret_text')}
      width="small"
      actions={
        <Button variant="primary" onClick={onClose}>
          {t('api_keys.done')}
        </Button>
      }
    >
      <div className="flex items-center justify-between gap-3 rounded-control bg-raised py-2 pe-2 ps-3">
        <code className="min-w-0 text-sm wrap-anywhere">{apiKey}</code>
        <CopyButton text={apiKey} label={t('api_keys.secret_copy')} />
      </div>
    </Dialog>
  )
}
