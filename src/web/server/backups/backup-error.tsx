import { useTranslation } from '../../app/use-translation.ts'
import { asRequestError } from '../../api/error.ts'
import { formatRelative } from '../../app/formats.ts'
import { FormError } from '../../components/field.tsx'

/** Shows why a backup request failed; after a 429, when it can be repeated. */
export function BackupError({
  error,
  submittedAt,
  fields = [],
}: {
  error: unknown
  /** Milliseconds since 1970. */
  submittedAt: number
  fields?: readonly string[]
}) {
  const { t } = useTranslation('backups')
  const seconds = asRequestError(error)?.status === 429 ? asRequestError(error)?.retryAfter : null
  if (!seconds) return <FormError error={error} fields={fields} />
  return (
    <p role="alert" className="rounded-control bg-warn-soft px-3 py-2 text-sm text-warn">
      {t('throttled', { when: formatRelative(new Date(submittedAt + seconds * 1000)) })}
    </p>
  )
}
