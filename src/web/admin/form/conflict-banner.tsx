import i18next from 'i18next'
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from '../../app/use-translation.ts'
import { formatDateTime } from '../../app/formats.ts'
import { Banner } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { changedNames, type Current, fetchLastChange } from './current-version.ts'
import type { FormValues } from './resource-form.tsx'

const maxShownLength = 120

/** Says who changed what since the form was loaded, and offers to load it again or to overwrite it. */
export function ConflictBanner({
  base,
  current,
  subject,
  onReload,
  onOverwrite,
}: {
  base: FormValues
  current: Current
  subject: { type: string; id: number } | undefined
  onReload: () => void
  onOverwrite: () => void
}) {
  const { t } = useTranslation('admin')
  const last = useQuery({
    queryKey: ['admin', 'last-change', subject, current.version],
    queryFn: ({ signal }) => (subject ? fetchLastChange(subject, signal) : null),
    retry: false,
  }).data
  const labelOf = (name: string) => {
    const key = `field.${name.replaceAll('.', '_')}`
    return i18next.exists(`admin:${key}`) ? t(key) : name
  }
  return (
    <Banner
      tone="warn"
      title={t('form.conflict')}
      actions={
        <span className="flex flex-wrap gap-2">
          <Button onClick={onReload}>{t('form.reload')}</Button>
          <Button variant="danger" onClick={onOverwrite}>
            {t('form.overwrite')}
          </Button>
        </span>
      }
    >
      <p>{t('form.conflict_text')}</p>
      {last?.by && (
        <p className="mt-1">{t('form.changed_by', { name: last.by, time: formatDateTime(last.at) })}</p>
      )}
      <ul className="mt-1 list-disc ps-5">
        {changedNames(base, current.values).map((name) => (
          <li key={name} className="wrap-anywhere">
            {labelOf(name)}: {String(current.values[name]).slice(0, maxShownLength) || '–'}
          </li>
        ))}
      </ul>
    </Banner>
  )
}
