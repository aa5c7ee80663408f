import { useMemo } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import type { RequestError } from '../../api/error.ts'
import type { CronFields, CronTimes } from '../../api/schedules.ts'
import { classNames } from '../../components/class-names.ts'
import { SelectField, TextField } from '../../components/field.tsx'
import { timeOfDay, presetFields, presetOf, presets, withTimeOfDay } from './presets.ts'
import { weekdays, zonesByRegion } from './zones.ts'

type Props = { value: CronTimes; onChange: (value: CronTimes) => void; requestError: RequestError | null }

const names = [
  'minute',
  'hour',
  'day_of_month',
  'month',
  'day_of_week',
] as const satisfies (keyof CronFields)[]

/** Edits a cron expression by presets or by its five fields, with its time zone. */
export function CronEditor({ value, onChange, requestError }: Props) {
  const { t } = useTranslation('schedules')
  const change = (fields: Partial<CronTimes>) => onChange({ ...value, ...fields })
  return (
    <div className="flex flex-col gap-4">
      <PresetPicker value={value} onChange={change} />
      <fieldset className="min-w-0">
        <legend className="mb-1.5 text-sm text-muted">{t('field.legend')}</legend>
        <div className="grid grid-cols-2 gap-3 sm:grid-cols-5">
          {names.map((name) => (
            <TextField
              key={name}
              label={t(`field.${name}`)}
              value={value[name]}
              onChange={(event) => change({ [name]: event.target.value })}
              autoComplete="off"
              autoCapitalize="off"
              spellCheck={false}
              error={requestError?.fieldError(name)}
            />
          ))}
        </div>
      </fieldset>
      <ZoneField
        zone={value.timezone}
        onChange={(timezone) => change({ timezone })}
        error={requestError?.fieldError('timezone')}
      />
    </div>
  )
}

function PresetPicker({ value, onChange }: { value: CronTimes; onChange: (fields: CronFields) => void }) {
  const { t } = useTranslation('schedules')
  const current = presetOf(value)
  return (
    <div className="flex flex-col gap-3">
      <div role="group" aria-label={t('cron')} className="flex flex-wrap gap-2">
        {presets.map((preset) => (
          <button
            key={preset}
            type="button"
            aria-pressed={preset === current}
            onClick={() => onChange(presetFields(preset, value))}
            className={classNames(
              'min-h-9 rounded-control border px-3 text-sm font-medium transition-colors',
              preset === current
                ? 'border-brand bg-brand-soft text-brand-text'
                : 'border-line bg-surface hover:bg-raised',
            )}
          >
            {t(`preset.${preset}`)}
          </button>
        ))}
      </div>
      <PresetTime value={value} onChange={onChange} />
    </div>
  )
}

/** Time and day of a preset; nothing for other expressions. */
function PresetTime({ value, onChange }: { value: CronTimes; onChange: (fields: CronFields) => void }) {
  const { t } = useTranslation('schedules')
  const preset = presetOf(value)
  if (!preset) return null
  return (
    <div className="flex flex-wrap gap-3">
      {preset === 'hourly' && (
        <NumberChoice
          label={t('preset.at_minute')}
          from={0}
          to={59}
          value={value.minute}
          onChange={(minute) => onChange({ ...value, minute })}
        />
      )}
      {preset === 'weekly' && (
        <SelectField
          label={t('preset.on_weekday')}
          value={String(Number(value.day_of_week) % 7)}
          onChange={(event) => onChange({ ...value, day_of_week: event.target.value })}
        >
          {weekdays().map((name, day) => (
            <option key={name} value={day}>
              {name}
            </option>
          ))}
        </SelectField>
      )}
      {preset === 'monthly' && (
        <NumberChoice
          label={t('preset.on_day')}
          from={1}
          to={31}
          value={value.day_of_month}
          onChange={(day) => onChange({ ...value, day_of_month: day })}
        />
      )}
      {preset !== 'hourly' && (
        <TextField
          label={t('preset.at_time')}
          type="time"
          value={timeOfDay(value)}
          onChange={(event) => onChange(withTimeOfDay(value, event.target.value))}
        />
      )}
    </div>
  )
}

type NumberChoiceProps = {
  label: string
  from: number
  to: number
  value: string
  onChange: (value: string) => void
}

const NumberChoice = ({ label, from, to, value, onChange }: NumberChoiceProps) => (
  <SelectField label={label} value={Number(value)} onChange={(event) => onChange(event.target.value)}>
    {Array.from({ length: to - from + 1 }, (_, at) => (
      <option key={at} value={from + at}>
        {from + at}
      </option>
    ))}
  </SelectField>
)

type ZoneFieldProps = { zone: string; onChange: (zone: string) => void; error: string | undefined }

function ZoneField({ zone, onChange, error }: ZoneFieldProps) {
  const { t } = useTranslation('schedules')
  const regions = useMemo(() => zonesByRegion(zone), [zone])
  return (
    <SelectField
      label={t('timezone')}
      hint={t('timezone_hint', { zone: zone.replaceAll('_', ' ') })}
      value={zone}
      onChange={(event) => onChange(event.target.value)}
      error={error}
    >
      {[...regions].map(([region, zones]) => (
        <optgroup key={region} label={region || t('zones_without_region')}>
          {zones.map((each) => (
            <option key={each.zone} value={each.zone}>
              {each.city}
            </option>
          ))}
        </optgroup>
      ))}
    </SelectField>
  )
}
