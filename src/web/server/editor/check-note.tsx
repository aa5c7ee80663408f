import { CircleAlert, CircleCheck, Info } from 'lucide-react'
import { useTranslation } from '../../app/use-translation.ts'
import { Button } from '../../components/button.tsx'
import { classNames } from '../../components/class-names.ts'
import type { CheckResult } from './use-check.ts'

/** Says what a check has found, and leads to the place of a problem. */
export function CheckNote({ result, onGoTo }: { result: CheckResult; onGoTo: (position: number) => void }) {
  const { t } = useTranslation('files')
  const isProblem = result.kind === 'problem'
  const isGood = result.kind === 'valid' || result.kind === 'formatted' || result.kind === 'unchanged'
  const Icon = isProblem ? CircleAlert : isGood ? CircleCheck : Info
  return (
    <p
      className={classNames(
        'flex min-h-10 flex-wrap items-center gap-x-2.5 gap-y-1 rounded-control px-3 py-1.5 text-sm',
        isProblem ? 'bg-bad-soft text-bad' : isGood ? 'bg-good-soft text-good' : 'bg-info-soft text-info',
      )}
    >
      <Icon aria-hidden className="size-4 shrink-0" />
      <span className="min-w-0 flex-1 wrap-anywhere">
        {isProblem ? <ProblemText result={result} /> : t(`check.${result.kind}`)}
      </span>
      {isProblem && result.position !== null && (
        <Button onClick={() => result.position !== null && onGoTo(result.position)}>
          {t('check.go_to')}
        </Button>
      )}
    </p>
  )
}

function ProblemText({ result }: { result: CheckResult & { kind: 'problem' } }) {
  const { t } = useTranslation('files')
  return (
    <>
      {result.place ? t('check.problem_at', result.place) : t('check.problem')}{' '}
      {/* The parser explains itself in English only. */}
      {result.reason && (
        <span lang="en" dir="ltr">
          {result.reason}
        </span>
      )}
    </>
  )
}
