import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { asRequestError } from '../../api/error.ts'
import { changeVariable, startupKey, startupQuery, type Variable } from '../../api/startup.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { SelectField, TextField } from '../../components/field.tsx'
import { Switch } from '../../components/switch.tsx'
import { toast } from '../../components/toast.tsx'
import { useServer } from '../server-context.tsx'
import { isBlocked } from '../server-state.ts'
import { readRules } from './variable-rules.ts'

/** A variable of the egg: its description and rules, and a field that fits them. */
export function VariableCard({ variable }: { variable: Variable }) {
  const { t } = useTranslation('startup')
  const { can, server } = useServer()
  const isEditable = variable.is_editable && can('startup.update')
  return (
    <section
      aria-label={variable.name}
      className="flex min-w-0 flex-col gap-3 rounded-card border border-line bg-surface p-4"
    >
      <div className="flex items-start justify-between gap-3">
        <div className="min-w-0">
          <h3 className="font-medium wrap-anywhere">{variable.name}</h3>
          <code className="font-mono text-xs wrap-anywhere text-muted">{variable.env_variable}</code>
        </div>
        {!variable.is_editable && <Badge>{t('locked')}</Badge>}
      </div>
      {variable.description && <p className="text-sm wrap-anywhere text-muted">{variable.description}</p>}
      <VariableField
        key={variable.server_value}
        variable={variable}
        disabled={!isEditable || isBlocked(server)}
      />
      {!variable.is_editable && <p className="text-sm text-muted">{t('read_only')}</p>}
    </section>
  )
}

function useSaving(variable: Variable) {
  const { t } = useTranslation('startup')
  const { id } = useServer()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (value: string) => changeVariable(id, variable.env_variable, value),
    onSuccess: ({ attributes, meta }) => {
      queries.setQueryData(
        startupQuery(id).queryKey,
        (before) =>
          before && {
            ...before,
            data: before.data.map((row) =>
              row.attributes.env_variable === attributes.env_variable ? { ...row, attributes } : row,
            ),
            meta: { ...before.meta, ...meta },
          },
      )
      toast(t('saved'))
    },
    onError: () => queries.invalidateQueries({ queryKey: startupKey(id) }),
  })
}

function VariableField({ variable, disabled }: { variable: Variable; disabled: boolean }) {
  const { t } = useTranslation('startup')
  const rules = readRules(variable.rules)
  const current = variable.server_value ?? variable.default_value
  const [value, setValue] = useState(current)
  const saving = useSaving(variable)
  const requestError = asRequestError(saving.error)
  const error = requestError ? (requestError.entries[0]?.detail ?? t('failed')) : undefined
  const hints = rules.hints
    .map(({ name, values }) => t(`rule.${name}`, { a: values[0], b: values[1] }))
    .join(' ')
  const saveNow = (next: string) => {
    setValue(next)
    saving.mutate(next, { onError: () => setValue(current) })
  }
  if (rules.kind === 'switch') {
    const isOn = value === '1' || value === 'true'
    const [on, off] =
      rules.choices.includes('true') || current === 'true' || current === 'false'
        ? ['true', 'false']
        : ['1', '0']
    return (
      <div className="flex flex-col gap-1.5">
        <Switch
          label={t(isOn ? 'on' : 'off')}
          checked={isOn}
          disabled={disabled || saving.isPending}
          onChange={(checked) => saveNow((checked ? on : off) as string)}
        />
        {error && (
          <p role="alert" className="text-sm text-bad">
            {error}
          </p>
        )}
      </div>
    )
  }
  if (rules.kind === 'choice') {
    return (
      <SelectField
        label={variable.name}
        hideLabel
        value={value}
        error={error}
        disabled={disabled || saving.isPending}
        onChange={(event) => saveNow(event.target.value)}
      >
        {[...new Set([...rules.choices, value])].map((choice) => (
          <option key={choice}>{choice}</option>
        ))}
      </SelectField>
    )
  }
  return (
    <form
      className="flex items-start gap-2"
      onSubmit={(event) => {
        event.preventDefault()
        saving.mutate(value)
      }}
    >
      <TextField
        label={variable.name}
        hideLabel
        className="flex-1"
        value={value}
        inputMode={rules.kind === 'number' ? 'numeric' : 'text'}
        placeholder={variable.default_value}
        hint={hints || undefined}
        error={error}
        disabled={disabled}
        spellCheck={false}
        onChange={(event) => setValue(event.target.value)}
      />
      {!disabled && (
        <Button type="submit" busy={saving.isPending} disabled={value === current}>
          {t('strings:action.save')}
        </Button>
      )}
    </form>
  )
}
