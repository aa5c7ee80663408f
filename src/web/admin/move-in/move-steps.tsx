import { Check } from 'lucide-react'
import { useTranslation } from '../../app/use-translation.ts'
import { classNames } from '../../components/class-names.ts'
import type { MoveIn } from '../resources.ts'
import { countDone, steps } from './move-stages.ts'

/** Shows which steps are done, and at which the move is. */
export function MoveSteps({ move }: { move: MoveIn }) {
  const { t } = useTranslation('moving')
  const done = countDone(move)
  return (
    <ol aria-label={t('steps')} className="flex items-center gap-2 text-sm sm:gap-3">
      {steps.map((step, at) => (
        <li
          key={step}
          aria-current={at === done ? 'step' : undefined}
          className="flex min-w-0 items-center gap-2 sm:gap-3"
        >
          {at > 0 && <span aria-hidden className="h-px w-4 shrink-0 bg-line-strong sm:w-10" />}
          <span
            aria-hidden
            className={classNames(
              'flex size-6 shrink-0 items-center justify-center rounded-full text-xs font-semibold tabular-nums',
              at < done
                ? 'bg-good-soft text-good'
                : at === done
                  ? 'bg-brand text-brand-ink'
                  : 'bg-raised text-muted',
            )}
          >
            {at < done ? <Check className="size-3.5" strokeWidth={3} /> : at + 1}
          </span>
          <span className={classNames('truncate', at === done ? 'font-semibold' : 'text-muted')}>
            {t(`step.${step}`)}
          </span>
        </li>
      ))}
    </ol>
  )
}
