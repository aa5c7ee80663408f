import type { TFunction } from 'i18next'
import { useTranslation } from '../../app/use-translation.ts'
import { formatDuration, formatNumber } from '../../app/formats.ts'
import { Card } from '../../components/card.tsx'
import { Progress } from '../../components/meter.tsx'
import type { MoveIn } from '../resources.ts'
import { DiscardMove } from './chosen-dump.tsx'

/** How far the writing is: phase, rows, rate and what is left. */
export function MoveProgress({ move }: { move: MoveIn }) {
  const { t } = useTranslation('moving')
  const { progress, stage } = move
  const isComparing = stage === 'comparing'
  const title = t(isComparing ? 'move.comparing' : 'move.running')
  const ratio = progress && progress.total > 0 ? Math.min(1, progress.rows / progress.total) : null
  return (
    <Card title={title} text={t('move.close')} actions={<DiscardMove move={move} />}>
      <div className="flex flex-col gap-3">
        <Progress label={title} ratio={isComparing ? null : ratio} />
        <div aria-live="polite" className="flex flex-col gap-1 text-sm">
          {!isComparing && progress && (
            <>
              <p className="font-medium wrap-anywhere">
                <span lang="en">{progress.phase.replaceAll('_', ' ')}</span>
              </p>
              <p className="text-muted tabular-nums">
                {t('move.rows', { rows: formatNumber(progress.rows), total: formatNumber(progress.total) })}
                {progress.seconds_left !== null && ` · ${paceOf(progress, t)}`}
              </p>
            </>
          )}
          {!isComparing && !progress && <p className="text-muted">{t('move.preparing')}</p>}
        </div>
      </div>
    </Card>
  )
}

const paceOf = (
  { rows_per_second: rate, seconds_left: left }: NonNullable<MoveIn['progress']>,
  t: TFunction<'moving'>,
) => t('pace', { rate: formatNumber(rate), left: formatDuration((left ?? 0) * 1000) })
