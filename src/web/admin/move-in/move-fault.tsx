import { useTranslation } from '../../app/use-translation.ts'
import { Banner } from '../../components/badge.tsx'
import type { MoveIn } from '../resources.ts'

/** Why a check or a move ended, in the words of the command line. */
export function MoveFault({
  fault,
  hasMoved,
}: {
  fault: NonNullable<MoveIn['fault']>
  /** Whether rows were being written. */
  hasMoved: boolean
}) {
  const { t } = useTranslation('moving')
  return (
    <Banner tone="bad" title={t(hasMoved ? 'move.failed' : 'check.failed')}>
      <p lang="en" className="wrap-anywhere">
        {fault.error}
      </p>
      {fault.issues.length > 0 && (
        <ul lang="en" className="mt-1 list-disc pl-5 wrap-anywhere">
          {fault.issues.map(({ field, problem }) => (
            <li key={`${field} ${problem}`}>
              {field}: {problem}
            </li>
          ))}
        </ul>
      )}
      {hasMoved && <p className="mt-1">{t('move.failed_text')}</p>}
    </Banner>
  )
}
