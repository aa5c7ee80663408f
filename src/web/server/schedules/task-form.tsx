import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useId, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { asRequestError, type RequestError } from '../../api/error.ts'
import { type Schedule, saveTask, schedulesKey, type Task, type TaskInput } from '../../api/schedules.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { FormError, SelectField, TextArea, TextField } from '../../components/field.tsx'
import { Switch } from '../../components/switch.tsx'
import { useServer } from '../server-context.tsx'
import { type Action, firstPayload, useAllowedActions, useAllowedSignals } from './task-actions.ts'

const fields = ['action', 'payload', 'time_offset', 'continue_on_failure']
const longestOffset = 900

type Props = {
  schedule: Schedule
  /** The one that is changed; none for a new one, which comes last. */
  task?: Task
  onClose: () => void
}

/** Asks what a task does and when, and saves it. */
export function TaskForm({ schedule, task, onClose }: Props) {
  const { t } = useTranslation('schedules')
  const form = useId()
  const actions = useAllowedActions()
  const signals = useAllowedSignals()
  const [action, setAction] = useState<Action>(task?.action ?? actions[0] ?? 'command')
  const [payload, setPayload] = useState(task?.payload ?? firstPayload(action, signals))
  const [goesOn, setGoesOn] = useState(task?.continue_on_failure ?? false)
  const save = useSaveTask(schedule, task, onClose)
  const refusal = asRequestError(save.error)
  const choose = (next: Action) => {
    setAction(next)
    setPayload(next === task?.action ? task.payload : firstPayload(next, signals))
  }
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const time_offset = new FormData(event.currentTarget).get('time_offset')
    save.mutate({ action, payload, time_offset: Number(time_offset), continue_on_failure: goesOn })
  }
  const shown = task && !actions.includes(task.action) ? [...actions, task.action] : actions
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={task ? t('task_edit') : t('task_add')}
      actions={
        <>
          <Button onClick={onClose}>{t('strings:action.cancel')}</Button>
          <Button type="submit" form={form} look="primary" busy={save.isPending}>
            {task ? t('strings:action.save') : t('task_add')}
          </Button>
        </>
      }
    >
      <form id={form} onSubmit={submit} noValidate className="flex flex-col gap-4">
        <SelectField
          label={t('task_action')}
          value={action}
          onChange={(event) => choose(event.target.value as Action)}
          error={refusal?.fieldError('action')}
        >
          {shown.map((each) => (
            <option key={each} value={each}>
              {t(`task_${each}`)}
            </option>
          ))}
        </SelectField>
        <PayloadField action={action} value={payload} onChange={setPayload} refusal={refusal} />
        <TextField
          label={t('task_delay_label')}
          name="time_offset"
          type="number"
          inputMode="numeric"
          min={0}
          max={longestOffset}
          defaultValue={task?.time_offset ?? 0}
          hint={t('task_delay_hint')}
          error={refusal?.fieldError('time_offset')}
        />
        <Switch
          label={t('task_continue')}
          hint={t('task_continue_hint')}
          checked={goesOn}
          onChange={setGoesOn}
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
  refusal: RequestError | null
}

function PayloadField({ action, value, onChange, refusal }: PayloadProps) {
  const { t } = useTranslation(['schedules', 'server'])
  const signals = useAllowedSignals()
  const error = refusal?.fieldError('payload')
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
