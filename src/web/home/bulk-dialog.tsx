import { Ban, CircleAlert, CircleCheck, CircleDashed, type LucideIcon } from 'lucide-react'
import { useTranslation } from '../app/use-translation.ts'
import { Button } from '../components/button.tsx'
import { classNames } from '../components/class-names.ts'
import { Dialog } from '../components/dialog.tsx'
import { Progress } from '../components/meter.tsx'
import type { PowerResult, PowerRun } from './bulk-power.ts'

const looks: Record<PowerResult['outcome'], { icon: LucideIcon; tone: string }> = {
  waiting: { icon: CircleDashed, tone: 'text-muted' },
  sent: { icon: CircleCheck, tone: 'text-good' },
  failed: { icon: CircleAlert, tone: 'text-bad' },
  forbidden: { icon: Ban, tone: 'text-muted' },
  blocked: { icon: Ban, tone: 'text-muted' },
  cancelled: { icon: Ban, tone: 'text-muted' },
}

/** Shows what became of a signal on each server, while it is sent and after. */
export function BulkDialog({
  run,
  onCancel,
  onClose,
}: {
  run: PowerRun
  onCancel: () => void
  onClose: () => void
}) {
  const { t } = useTranslation('home')
  const { results, isRunning, signal } = run
  const doneCount = results.filter(({ outcome }) => outcome !== 'waiting').length
  const sentCount = results.filter(({ outcome }) => outcome === 'sent').length
  return (
    <Dialog
      open
      onOpenChange={() => (isRunning ? onCancel() : onClose())}
      title={t(`bulk.${signal}`)}
      text={
        <span role="status">
          {isRunning
            ? t('bulk.running', { done: doneCount, total: results.length })
            : t('bulk.done', { sent: sentCount, total: results.length })}
        </span>
      }
      actions={
        isRunning ? (
          <Button onClick={onCancel}>{t('strings:action.cancel')}</Button>
        ) : (
          <Button variant="primary" onClick={onClose}>
            {t('strings:action.close')}
          </Button>
        )
      }
    >
      <Progress label={t(`bulk.${signal}`)} ratio={results.length === 0 ? 1 : doneCount / results.length} />
      <ul className="mt-3 divide-y divide-line">
        {results.map((result) => (
          <ResultRow key={result.server.uuid} result={result} />
        ))}
      </ul>
    </Dialog>
  )
}

function ResultRow({ result: { server, outcome, reason } }: { result: PowerResult }) {
  const { t } = useTranslation('home')
  const { icon: Icon, tone } = looks[outcome]
  return (
    <li className="flex items-start gap-2.5 py-2 text-sm">
      <Icon aria-hidden className={classNames('mt-0.5 size-4 shrink-0', tone)} />
      <span className="min-w-0 flex-1 wrap-anywhere">
        <span className="font-medium">{server.name}</span>
        <span className="block text-muted">{reason || t(`bulk.outcome.${outcome}`)}</span>
      </span>
    </li>
  )
}
