import { useMutation } from '@tanstack/react-query'
import { ListChecks } from 'lucide-react'
import { type ReactNode, useId, useState } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { adminSend, refetchAdmin } from '../../api/admin.ts'
import { asRequestError } from '../../api/error.ts'
import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { FormError, TextField } from '../../components/field.tsx'
import { PasswordField } from '../../components/password-field.tsx'
import { Checkbox } from '../../components/switch.tsx'
import type { MoveIn } from '../resources.ts'
import { readOldEnv } from './old-env.ts'

const kinds = [
  ['pterodactyl', 'Pterodactyl'],
  ['pelican', 'Pelican'],
] as const

type Values = {
  kind: (typeof kinds)[number][0]
  appKey: string
  previousKeys: string
  timezone: string
  correctTimezone: boolean
  dumpTimezone: string
  ignoreColumns: string
  /** What the `.env` says; null where none was read. */
  env: Record<string, string> | null
}

const listOf = (text: string) =>
  text
    .split(/[\s,]+/)
    .map((entry) => entry.trim())
    .filter(Boolean)

const firstValues = (move: MoveIn): Values => ({
  kind: move.kind ?? 'pterodactyl',
  appKey: '',
  previousKeys: '',
  timezone: move.timezone ?? move.first_timezone ?? '',
  correctTimezone: false,
  dumpTimezone: move.dump_timezone ?? '',
  ignoreColumns: move.ignore_columns.join(', '),
  env: null,
})

const isOtherZone = ({ first_timezone: first }: MoveIn, { timezone }: Values) =>
  first !== null && (timezone || 'UTC') !== first

const bodyOf = (move: MoveIn, values: Values) => ({
  kind: values.kind,
  app_key: values.appKey,
  previous_keys: listOf(values.previousKeys),
  env: values.env,
  timezone: values.timezone || null,
  correct_timezone: values.correctTimezone && isOtherZone(move, values),
  dump_timezone: values.dumpTimezone || null,
  ignore_columns: listOf(values.ignoreColumns),
})

const fields = ['app_key', 'timezone', 'dump_timezone', 'kind']

/** What the panel needs to know of the old one before it can check. Folded where a check found nothing that forbids. */
export function OldPanelForm({ move }: { move: MoveIn }) {
  const { t } = useTranslation('moving')
  if (move.report === null || move.fault !== null)
    return (
      <Card title={t('old.title')} text={t('old.text')}>
        <Form move={move} />
      </Card>
    )
  return (
    <details open={!move.can_start} className="rounded-card border border-line bg-surface">
      <summary className="cursor-pointer px-4 py-3 text-sm font-medium sm:px-5">{t('old.again')}</summary>
      <div className="px-4 pb-4 sm:px-5 sm:pb-5">
        <Form move={move} />
      </div>
    </details>
  )
}

function Form({ move }: { move: MoveIn }) {
  const { t } = useTranslation('moving')
  const [values, setValues] = useState(() => firstValues(move))
  const change = (changes: Partial<Values>) => setValues((before) => ({ ...before, ...changes }))
  const checking = useMutation({
    mutationFn: () => adminSend('POST', '/move-in/check', bodyOf(move, values)),
    onSettled: () => refetchAdmin(),
  })
  const error = asRequestError(checking.error)
  const textField = (
    name: 'timezone' | 'dumpTimezone' | 'ignoreColumns',
    field: string,
    label: string,
    hint?: ReactNode,
    placeholder?: string,
  ) => (
    <TextField
      label={label}
      hint={hint}
      placeholder={placeholder}
      autoComplete="off"
      spellCheck={false}
      error={error?.fieldError(field)}
      value={values[name]}
      onChange={({ target }) => change({ [name]: target.value })}
    />
  )
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault()
        checking.mutate()
      }}
    >
      <KindChoice value={values.kind} onChange={(kind) => change({ kind })} />
      <EnvFile onRead={change} />
      <div className="grid gap-4 sm:grid-cols-2">
        <PasswordField
          label="APP_KEY"
          autoComplete="new-password"
          required
          placeholder="base64:…"
          error={error?.fieldError('app_key')}
          value={values.appKey}
          onChange={({ target }) => change({ appKey: target.value })}
        />
        {textField('timezone', 'timezone', t('old.timezone'), 'APP_TIMEZONE', 'UTC')}
      </div>
      {isOtherZone(move, values) && (
        <Checkbox
          label={t('old.correct_timezone', { zone: move.first_timezone })}
          hint={t('old.correct_timezone_hint')}
          checked={values.correctTimezone}
          onChange={(correctTimezone) => change({ correctTimezone })}
        />
      )}
      <details>
        <summary className="cursor-pointer text-sm font-medium">{t('old.more')}</summary>
        <div className="flex flex-col gap-4 pt-4">
          <PasswordField
            label={t('old.previous')}
            hint={t('old.previous_hint')}
            autoComplete="new-password"
            value={values.previousKeys}
            onChange={({ target }) => change({ previousKeys: target.value })}
          />
          {textField('dumpTimezone', 'dump_timezone', t('old.dump_timezone'), t('old.dump_timezone_hint'))}
          {textField('ignoreColumns', 'ignore_columns', t('old.ignore'), t('old.ignore_hint'))}
        </div>
      </details>
      <FormError error={checking.error} fields={fields} />
      <div>
        <Button
          type="submit"
          icon={ListChecks}
          variant={move.can_start ? 'plain' : 'primary'}
          busy={checking.isPending}
        >
          {t('check.start')}
        </Button>
      </div>
    </form>
  )
}

function KindChoice({
  value,
  onChange,
}: {
  value: Values['kind']
  onChange: (kind: Values['kind']) => void
}) {
  const { t } = useTranslation('moving')
  const name = useId()
  return (
    <fieldset>
      <legend className="pb-1.5 text-sm font-medium">{t('old.kind')}</legend>
      <div className="flex flex-wrap gap-2">
        {kinds.map(([kind, text]) => (
          <label
            key={kind}
            className="flex min-h-9 cursor-pointer items-center gap-2 rounded-control border border-line px-3 text-sm has-checked:border-brand has-checked:bg-brand-soft has-checked:font-medium has-checked:text-brand-text"
          >
            <input
              type="radio"
              name={name}
              className="accent-brand"
              checked={value === kind}
              onChange={() => onChange(kind)}
            />
            {text}
          </label>
        ))}
      </div>
    </fieldset>
  )
}

/** Reads the keys and the time zone from a file that stays in the browser. */
function EnvFile({ onRead }: { onRead: (values: Partial<Values>) => void }) {
  const { t } = useTranslation('moving')
  const id = useId()
  const [said, setSaid] = useState<{ name: string; hasKey: boolean } | null>(null)
  const read = async (file: File | undefined) => {
    if (!file) return
    const { appKey, previousKeys, timezone, env } = readOldEnv(await file.text())
    setSaid({ name: file.name, hasKey: appKey !== '' })
    if (appKey !== '') onRead({ appKey, previousKeys, env, ...(timezone && { timezone }) })
  }
  return (
    <div className="flex flex-col gap-1.5">
      <label htmlFor={id} className="text-sm font-medium">
        {t('old.env')}
      </label>
      <input
        id={id}
        type="file"
        aria-describedby={`${id}-hint`}
        onChange={({ target }) => void read(target.files?.[0])}
        className="max-w-full text-sm file:mr-3 file:min-h-9 file:cursor-pointer file:rounded-control file:border file:border-line file:bg-surface file:px-3"
      />
      <p id={`${id}-hint`} className="text-sm text-muted">
        {t('old.env_hint')}
      </p>
      <p aria-live="polite" className={said?.hasKey === false ? 'text-sm text-bad' : 'text-sm text-good'}>
        {said && t(said.hasKey ? 'old.env_read' : 'old.env_without', { name: said.name })}
      </p>
    </div>
  )
}
