import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useId, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { asRequestError } from '../../api/error.ts'
import {
  addSchedule,
  changeSchedule,
  type CronTimes,
  scheduleInputOf,
  type Schedule,
  type ScheduleInput,
  schedulesKey,
} from '../../api/schedules.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { FormError, TextField } from '../../components/field.tsx'
import { Switch } from '../../components/switch.tsx'
import { toast } from '../../components/toast.tsx'
import { useServer } from '../server-context.tsx'
import { CronEditor } from './cron-editor.tsx'
import { RunPreview, usePreview } from './run-preview.tsx'
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
  onClose: () => void
  onSaved?: (schedule: Schedule) => void
}

/** Asks for the name and times of a schedule, and saves it. */
export function ScheduleForm({ schedule, onClose, onSaved }: Props) {
  const { t } = useTranslation('schedules')
  const form = useId()
  const [options, setOptions] = useState(() => (schedule ? scheduleInputOf(schedule) : defaultInput))
  const [times, setTimes] = useState(() => timesOf(options))
  const { preview, requestError: timesError } = usePreview(times)
  const save = useSaveSchedule(schedule, (saved) => {
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

function useSaveSchedule(schedule: Schedule | undefined, done: (saved: Schedule) => void) {
  const { t } = useTranslation('schedules')
  const { id } = useServer()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (input: ScheduleInput) =>
      schedule ? changeSchedule(id, schedule.id, input) : addSchedule(id, input),
    onSuccess: (saved) => {
      queries.setQueryData([...schedulesKey(id), saved.id], saved)
      toast(t('saved'))
      done(saved)
      return queries.invalidateQueries({ queryKey: schedulesKey(id) })
    },
  })
}
