import { browserSupportsWebAuthn, startRegistration } from '@simplewebauthn/browser'
import { useQueryClient } from '@tanstack/react-query'
import { KeyRound, Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from '../app/use-translation.ts'
import { asRequestError } from '../api/error.ts'
import {
  addPasskey,
  creationOptions,
  type Passkey,
  removePasskey,
  type Security,
  securityQuery,
} from '../api/security.ts'
import { Button, IconButton } from '../components/button.tsx'
import { Card, RowList } from '../components/card.tsx'
import { TextField } from '../components/field.tsx'
import { EmptyState } from '../components/states.tsx'
import { toast } from '../components/toast.tsx'
import { TextWithTime } from './text-with-time.tsx'
import { ConfirmPasswordDialog } from './confirm-password-dialog.tsx'

/** Lists the passkeys of the account, and adds and removes them. */
export function Passkeys({ security }: { security: Security }) {
  const { t } = useTranslation('account')
  const queries = useQueryClient()
  const [isAdding, setAdding] = useState(false)
  const [removing, setRemoving] = useState<Passkey | null>(null)
  const isSupported = security.passkeys_enabled && browserSupportsWebAuthn()
  const done = (text: string) => {
    toast(text)
    setAdding(false)
    setRemoving(null)
    void queries.invalidateQueries({ queryKey: securityQuery.queryKey })
  }
  const add = (
    <Button icon={Plus} onClick={() => setAdding(true)}>
      {t('passkeys.add')}
    </Button>
  )
  return (
    <Card
      title={t('passkeys.title')}
      text={t(isSupported ? 'passkeys.text' : 'passkeys.unsupported')}
      actions={isSupported && security.passkeys.length > 0 && add}
    >
      {security.passkeys.length === 0 ? (
        <EmptyState icon={KeyRound} title={t('passkeys.empty')}>
          {isSupported && add}
        </EmptyState>
      ) : (
        <RowList label={t('passkeys.title')}>
          {security.passkeys.map((passkey) => (
            <Row
              key={passkey.id}
              passkey={passkey}
              isRemovable={security.passkeys_enabled}
              onRemove={() => setRemoving(passkey)}
            />
          ))}
        </RowList>
      )}
      {isAdding && <AddPasskey onClose={() => setAdding(false)} onDone={() => done(t('passkeys.added'))} />}
      {removing && (
        <ConfirmPasswordDialog
          onClose={() => setRemoving(null)}
          title={t('passkeys.remove_title')}
          text={t('passkeys.remove_text', { name: removing.name })}
          action={t('strings:action.remove')}
          danger
          onSubmit={(password) => removePasskey(removing.id, password)}
          onDone={() => done(t('passkeys.removed'))}
        />
      )}
    </Card>
  )
}

function Row({
  passkey: { name, last_used_at: used },
  isRemovable,
  onRemove,
}: {
  passkey: Passkey
  isRemovable: boolean
  onRemove: () => void
}) {
  const { t } = useTranslation('account')
  return (
    <li className="flex items-center gap-3 px-4 py-3">
      <KeyRound aria-hidden className="size-5 shrink-0 text-muted" />
      <div className="min-w-0 flex-1 text-sm">
        <p className="font-medium wrap-anywhere">{name}</p>
        <p className="text-muted">
          {used ? <TextWithTime text="passkeys.used" at={used} /> : t('passkeys.never_used')}
        </p>
      </div>
      {isRemovable && <IconButton icon={Trash2} label={t('passkeys.remove', { name })} onClick={onRemove} />}
    </li>
  )
}

function AddPasskey({ onClose, onDone }: { onClose: () => void; onDone: () => void }) {
  const { t } = useTranslation('account')
  const [name, setName] = useState('')
  const add = async (password: string) => {
    const optionsJSON = await creationOptions(password)
    await addPasskey(name, await startRegistration({ optionsJSON }))
  }
  const describeError = (error: unknown) => {
    const kind = error instanceof Error ? error.name : ''
    if (kind === 'InvalidStateError') return t('passkeys.known')
    return t(kind === 'NotAllowedError' || kind === 'AbortError' ? 'passkeys.cancelled' : 'passkeys.failed')
  }
  return (
    <ConfirmPasswordDialog
      onClose={onClose}
      title={t('passkeys.add')}
      text={t('passkeys.text')}
      action={t('strings:action.add')}
      onSubmit={add}
      onDone={onDone}
      describeError={describeError}
      fields={['name']}
    >
      {(error) => (
        <TextField
          label={t('passkeys.name')}
          hint={t('passkeys.name_text')}
          error={asRequestError(error)?.fieldError('name')}
          required
          maxLength={100}
          autoComplete="off"
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
      )}
    </ConfirmPasswordDialog>
  )
}
