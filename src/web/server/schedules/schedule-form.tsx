import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useId, useState } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { asRequestError } from '../../api/error.ts'
import {
  addSchedule,
  changeSchedule,
  type CronTimes,
  scheduleInputOf,
  type Schedule,
  saveTask,
  type ScheduleInput,
  schedulesKey,
  type TaskInput,
} from '../../api/schedules.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { FormError, TextField } from '../../components/field.tsx'
import { Switch } from '../../components/switch.tsx'
import { toast, toastError } from '../../components/toast.tsx'
import { useServer } from '../server-context.tsx'
import { CronEditor } from './cron-editor.tsx'
import { RunPreview, usePreview } from './run-preview.tsx'
import { TemplateChoice } from './template-choice.tsx'
import { type TemplateName, useTemplates } from './templates.ts'
import { localZone } from './zones.ts'

const fields = ['name', 'minute', 'hour', 'day_of_month', 'month', 'day_of_week', 'timezone']

const defaultInput: ScheduleInput = {
  name: '',
  minute: '0',
  hour: '4',
  day_of_month: '*',
  month: '*',
  day_of_week: '*',
  timezone: localZone,
  is_active: true,
  only_when_online: false,
}

const timesOf = ({ minute, hour, day_of_month, month, day_of_week, timezone }: ScheduleInput): CronTimes => ({
  minute,
  hour,
  day_of_month,
  month,
  day_of_week,
  timezone,
})

type Props = {
  /** The schedule to change; none to create one. */
  schedule?: Schedule
  /** What a new schedule starts from. */
  initialTemplate?: TemplateName | undefined
  onClose: () => void
  onSaved?: (schedule: Schedule) => void
}

/** Asks for the name and times of a schedule, and saves it. */
export function ScheduleForm({ schedule, initialTemplate, onClose, onSaved }: Props) {
  const { t } = useTranslation('schedules')
  const form = useId()
  const templateOf = useTemplates()
  const { options, setOptions, times, setTimes, template, setTemplate } = useInput(schedule, initialTemplate)
  const { preview, requestError: timesError } = usePreview(times)
  const tasks = template ? templateOf(template).tasks : []
  const save = useSaveSchedule(schedule, tasks, (saved) => {
    onSaved?.(saved)
    onClose()
  })
  const requestError = asRequestError(save.error)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate({ ...options, ...times })
  }
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={schedule ? t('edit') : t('create')}
      width="large"
      actions={
        <>
          <Button onClick={onClose}>{t('strings:action.cancel')}</Button>
          <Button type="submit" form={form} variant="primary" busy={save.isPending}>
            {schedule ? t('strings:action.save') : t('create')}
          </Button>
        </>
      }
    >
      <form id={form} onSubmit={submit} noValidate className="flex flex-col gap-5">
        {!schedule && <TemplateChoice value={template} onChange={setTemplate} />}
        <TextField
          label={t('strings:word.name')}
          value={options.name}
          onChange={(event) => setOptions({ ...options, name: event.target.value })}
          maxLength={191}
          autoComplete="off"
          error={requestError?.fieldError('name')}
        />
        <CronEditor value={times} onChange={setTimes} requestError={timesError} />
        <RunPreview times={times} preview={preview} requestError={timesError} />
        <ScheduleSwitches options={options} onChange={setOptions} />
        <FormError error={save.error} fields={timesError ? fields : ['name']} />
      </form>
    </Dialog>
  )
}

/** Holds what is entered; a template replaces the name, the times and the switches. */
function useInput(schedule: Schedule | undefined, initialTemplate: TemplateName | undefined) {
  const { t } = useTranslation('schedules')
  const templateOf = useTemplates()
  const inputOf = (name: TemplateName | null): ScheduleInput => {
    if (schedule) return scheduleInputOf(schedule)
    if (!name) return defaultInput
    const { times, onlyWhenOnline } = templateOf(name)
    return { ...defaultInput, ...times, name: t(`template.${name}`), only_when_online: onlyWhenOnline }
  }
  const [template, chooseTemplate] = useState<TemplateName | null>(initialTemplate ?? null)
  const [options, setOptions] = useState(() => inputOf(template))
  const [times, setTimes] = useState(() => timesOf(options))
  const setTemplate = (name: TemplateName | null) => {
    const input = inputOf(name)
    chooseTemplate(name)
    setOptions(input)
    setTimes({ ...timesOf(input), timezone: times.timezone })
  }
  return { options, setOptions, times, setTimes, template, setTemplate }
}

function ScheduleSwitches({
  options,
  onChange,
}: {
  options: ScheduleInput
  onChange: (options: ScheduleInput) => void
}) {
  const { t } = useTranslation('schedules')
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <Switch
        label={t('active')}
        hint={t('active_hint')}
        checked={options.is_active}
        onChange={(is_active) => onChange({ ...options, is_active })}
      />
      <Switch
        label={t('only_online')}
        hint={t('only_online_hint')}
        checked={options.only_when_online}
        onChange={(only_when_online) => onChange({ ...options, only_when_online })}
      />
    </div>
  )
}

/** Creates tasks one after the other, in their order; what is missing then can be added on the page of the schedule. */
async function createTasks(server: string, { id }: Schedule, tasks: TaskInput[]): Promise<void> {
  for (const task of tasks) await saveTask(server, id, null, task)
}

function useSaveSchedule(
  schedule: Schedule | undefined,
  tasks: TaskInput[],
  done: (saved: Schedule) => void,
) {
  const { t } = useTranslation('schedules')
  const { id } = useServer()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: async (input: ScheduleInput) => {
      if (schedule) return { saved: await changeSchedule(id, schedule.id, input), tasksError: null }
      const saved = await addSchedule(id, input)
      const tasksError: unknown = await createTasks(id, saved, tasks).then(
        () => null,
        (error: unknown) => error,
      )
      return { saved, tasksError }
    },
    onSuccess: ({ saved, tasksError }) => {
      if (tasks.length === 0) queries.setQueryData([...schedulesKey(id), saved.id], saved)
      if (tasksError === null) toast(t('saved'))
      else toastError(tasksError, t('template.tasks_failed'))
      done(saved)
      return queries.invalidateQueries({ queryKey: schedulesKey(id) })
    },
  })
}
