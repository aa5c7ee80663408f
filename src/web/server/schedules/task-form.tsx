import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useId, useState } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { asRequestError, type RequestError } from '../../api/error.ts'
import { type Schedule, saveTask, schedulesKey, type Task, type TaskInput } from '../../api/schedules.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { FormError, SelectField, TextArea, TextField } from '../../components/field.tsx'
import { Switch } from '../../components/switch.tsx'
import { useServer } from '../server-context.tsx'
import { type Action, defaultPayload, useAllowedActions, useAllowedSignals } from './task-actions.ts'

const fields = ['action', 'payload', 'time_offset', 'continue_on_failure', 'keep_backups']
const maxOffsetSeconds = 900
const maxKeptBackups = 100

type Props = {
  schedule: Schedule
  /** The task to change; none to add one at the end. */
  task?: Task
  onClose: () => void
}

/** Asks for the action and delay of a task, and saves it. */
export function TaskForm({ schedule, task, onClose }: Props) {
  const { t } = useTranslation('schedules')
  const form = useId()
  const actions = useAllowedActions()
  const signals = useAllowedSignals()
  const [action, setAction] = useState<Action>(task?.action ?? actions[0] ?? 'command')
  const [payload, setPayload] = useState(task?.payload ?? defaultPayload(action, signals))
  const [continuesOnFailure, setContinuesOnFailure] = useState(task?.continue_on_failure ?? false)
  const save = useSaveTask(schedule, task, onClose)
  const requestError = asRequestError(save.error)
  const changeAction = (next: Action) => {
    setAction(next)
    setPayload(next === task?.action ? task.payload : defaultPayload(next, signals))
  }
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const entered = new FormData(event.currentTarget)
    const kept = entered.get('keep_backups')
    save.mutate({
      action,
      payload,
      time_offset: Number(entered.get('time_offset')),
      continue_on_failure: continuesOnFailure,
      keep_backups: kept ? Number(kept) : null,
    })
  }
  const options = task && !actions.includes(task.action) ? [...actions, task.action] : actions
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={task ? t('task_edit') : t('task_add')}
      actions={
        <>
          <Button onClick={onClose}>{t('strings:action.cancel')}</Button>
          <Button type="submit" form={form} variant="primary" busy={save.isPending}>
            {task ? t('strings:action.save') : t('task_add')}
          </Button>
        </>
      }
    >
      <form id={form} onSubmit={submit} noValidate className="flex flex-col gap-4">
        <SelectField
          label={t('task_action')}
          value={action}
          onChange={(event) => changeAction(event.target.value as Action)}
          error={requestError?.fieldError('action')}
        >
          {options.map((each) => (
            <option key={each} value={each}>
              {t(`task_${each}`)}
            </option>
          ))}
        </SelectField>
        <PayloadField action={action} value={payload} onChange={setPayload} requestError={requestError} />
        {action === 'backup' && (
          <TextField
            label={t('task_keep')}
            name="keep_backups"
            type="number"
            inputMode="numeric"
            min={1}
            max={maxKeptBackups}
            defaultValue={task?.keep_backups ?? ''}
            hint={t('task_keep_hint')}
            error={requestError?.fieldError('keep_backups')}
          />
        )}
        <TextField
          label={t('task_delay_label')}
          name="time_offset"
          type="number"
          inputMode="numeric"
          min={0}
          max={maxOffsetSeconds}
          defaultValue={task?.time_offset ?? 0}
          hint={t('task_delay_hint')}
          error={requestError?.fieldError('time_offset')}
        />
        <Switch
          label={t('task_continue')}
          hint={t('task_continue_hint')}
          checked={continuesOnFailure}
          onChange={setContinuesOnFailure}
        />
        <FormError error={save.error} fields={fields} />
      </form>
    </Dialog>
  )
}

type PayloadProps = {
  action: Action
  value: string
  onChange: (value: string) => void
  requestError: RequestError | null
}

function PayloadField({ action, value, onChange, requestError }: PayloadProps) {
  const { t } = useTranslation('schedules', 'server')
  const signals = useAllowedSignals()
  const error = requestError?.fieldError('payload')
  if (action === 'power') {
    return (
      <SelectField
        label={t('task_power')}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        error={error}
      >
        {signals.map((signal) => (
          <option key={signal} value={signal}>
            {t(`server:power.${signal}`)}
          </option>
        ))}
      </SelectField>
    )
  }
  const field = { value, error, spellCheck: false, autoComplete: 'off', autoCapitalize: 'off' }
  if (action === 'command') {
    return (
      <TextField
        {...field}
        label={t('task_command_label')}
        hint={t('task_command_hint')}
        onChange={(event) => onChange(event.target.value)}
      />
    )
  }
  return (
    <TextArea
      mono
      {...field}
      label={t('task_ignored')}
      hint={
        <>
          {t('task_ignored_hint')} {t('task_backup_hint')}
        </>
      }
      onChange={(event) => onChange(event.target.value)}
    />
  )
}

function useSaveTask(schedule: Schedule, task: Task | undefined, done: () => void) {
  const { id } = useServer()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (input: TaskInput) => saveTask(id, schedule.id, task?.id ?? null, input),
    onSuccess: () => {
      done()
      return queries.invalidateQueries({ queryKey: schedulesKey(id) })
    },
  })
}
