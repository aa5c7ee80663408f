import { useMutation } from '@tanstack/react-query'
import { Eye, EyeOff } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { type Database, databasePassword, passwordOf } from '../../api/databases.ts'
import { IconButton } from '../../components/button.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { PrivateText } from '../../components/private-text.tsx'
import { toastError } from '../../components/toast.tsx'
import { useServer } from '../server-context.tsx'
import { connectionString, hostOf, jdbcAddress } from './addresses.ts'

/**
 * Shows how to connect to a database. The password is fetched when the user reveals it, and dropped when the dialog
 * closes.
 */
export function ConnectionDetails({ database, onClose }: { database: Database; onClose: () => void }) {
  const { t } = useTranslation('databases')
  const mayShow = useServer().can('database.view_password')
  const [password, setPassword] = useState(() => passwordOf(database))
  return (
    <Dialog open onOpenChange={onClose} title={t('details')} text={database.name}>
      <dl className="flex flex-col gap-3">
        <Value name={t('host')} text={hostOf(database)} isPrivate />
        <Value name={t('strings:word.name')} text={database.name} />
        <Value name={t('strings:word.username')} text={database.username} />
        <PasswordValue database={database} password={password} onChange={setPassword} />
        <Value name={t('connections_from')} text={database.connections_from} isPrivate />
        {database.max_connections > 0 && (
          <Value name={t('max_connections')} text={String(database.max_connections)} />
        )}
        <Value name={t('jdbc')} text={jdbcAddress(database)} isPrivate />
        <Value
          name={t('url')}
          text={connectionString(database, password)}
          isPrivate
          {...(mayShow && password === null ? { hint: t('url_without') } : {})}
        />
      </dl>
    </Dialog>
  )
}

type ValueProps = { name: string; text: string; isPrivate?: boolean; hint?: string }

const Value = ({ name, text, isPrivate, hint }: ValueProps) => (
  <ValueLine name={name} actions={<CopyButton text={text} />} {...(hint ? { hint } : {})}>
    {isPrivate ? <PrivateText text={text} /> : text}
  </ValueLine>
)

type ValueLineProps = { name: string; actions?: ReactNode; hint?: string; children: ReactNode }

const ValueLine = ({ name, actions, hint, children }: ValueLineProps) => (
  <div className="min-w-0">
    <dt className="text-sm text-muted">{name}</dt>
    <dd className="flex items-center gap-1">
      <span className="min-w-0 flex-1 font-mono text-sm wrap-anywhere">{children}</span>
      {actions}
    </dd>
    {hint && <dd className="text-xs text-muted">{hint}</dd>}
  </div>
)

type PasswordProps = {
  database: Database
  password: string | null
  onChange: (password: string | null) => void
}

function PasswordValue({ database, password, onChange }: PasswordProps) {
  const { t } = useTranslation('databases')
  const { id, can } = useServer()
  const reveal = useMutation({
    mutationFn: () => databasePassword(id, database.id),
    onSuccess: onChange,
    onError: (error) => toastError(error, t('password_failed')),
  })
  const name = t('strings:word.password')
  if (!can('database.view_password')) return <ValueLine name={name}>{t('password_denied')}</ValueLine>
  if (password !== null) {
    const actions = (
      <>
        <CopyButton text={password} />
        <IconButton icon={EyeOff} label={t('strings:action.hide')} onClick={() => onChange(null)} />
      </>
    )
    return (
      <ValueLine name={name} actions={actions}>
        {password}
      </ValueLine>
    )
  }
  const show = (
    <IconButton
      icon={Eye}
      label={t('strings:action.show')}
      busy={reveal.isPending}
      onClick={() => reveal.mutate()}
    />
  )
  return (
    <ValueLine name={name} actions={show}>
      <span aria-hidden>{'•'.repeat(12)}</span>
      <span className="sr-only">{t('password_hidden')}</span>
    </ValueLine>
  )
}
