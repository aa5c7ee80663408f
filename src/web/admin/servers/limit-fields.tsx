import { useTranslation } from '../../app/use-translation.ts'
import { FormSection, SizeInput, TextInput, ToggleInput, wide } from '../form/fields.tsx'
import type { FormValues } from '../form/resource-form.tsx'
import type { Server } from '../resources.ts'

const limitNames = ['memory', 'swap', 'disk', 'io', 'cpu', 'threads'] as const

/** Values of a new server: 2 GiB of memory and 10 GiB of disk. */
export const newLimits: FormValues = {
  'limits.memory': '2048',
  'limits.swap': '0',
  'limits.disk': '10240',
  'limits.io': '500',
  'limits.cpu': '100',
  'limits.threads': '',
  oom_disabled: true,
  'feature_limits.databases': '0',
  'feature_limits.allocations': '0',
  'feature_limits.backups': '0',
}

/** Returns the values of the form from the limits of a server. */
export const limitsOf = ({ limits, feature_limits: features }: Server): FormValues => ({
  ...Object.fromEntries(limitNames.map((name) => [`limits.${name}`, String(limits[name] ?? '')])),
  oom_disabled: limits.oom_disabled,
  'feature_limits.databases': String(features.databases ?? ''),
  'feature_limits.allocations': String(features.allocations ?? ''),
  'feature_limits.backups': String(features.backups),
})

/** Returns a number; the text itself when it is none, for the API to refuse. */
export const numberOf = (value: string | boolean | undefined): number | string | null => {
  const text = String(value ?? '').trim()
  if (text === '') return null
  return Number.isFinite(Number(text)) ? Number(text) : text
}

/** Returns the limits that the API takes, from the values of a form. */
export const limitsBody = (values: FormValues) => ({
  limits: {
    ...Object.fromEntries(
      limitNames
        .filter((name) => name !== 'threads')
        .map((name) => [name, numberOf(values[`limits.${name}`])]),
    ),
    threads: String(values['limits.threads'] ?? '') || null,
  },
  oom_disabled: values.oom_disabled,
  feature_limits: {
    databases: numberOf(values['feature_limits.databases']),
    allocations: numberOf(values['feature_limits.allocations']),
    backups: numberOf(values['feature_limits.backups']),
  },
})

/** The limits of a server. */
export function LimitFields() {
  const { t } = useTranslation('admin')
  return (
    <>
      <FormSection title={t('servers.limits')} text={t('servers.limits_text')}>
        <SizeInput name="limits.memory" label={t('strings:resource.memory')} isRequired />
        <SizeInput name="limits.disk" label={t('strings:resource.disk')} isRequired />
        <TextInput name="limits.cpu" type="number" isRequired />
        <SizeInput name="limits.swap" isRequired />
        <TextInput name="limits.threads" />
        <TextInput name="limits.io" type="number" isRequired />
        <ToggleInput name="oom_disabled" className={wide} />
      </FormSection>
      <FormSection title={t('servers.feature_limits')} text={t('servers.feature_limits_text')}>
        <TextInput name="feature_limits.databases" type="number" />
        <TextInput name="feature_limits.allocations" type="number" />
        <TextInput name="feature_limits.backups" type="number" />
      </FormSection>
    </>
  )
}
