import { Archive, Power, SquareTerminal } from 'lucide-react'
import { useTranslation } from '../../app/use-translation.ts'
import type { Step } from '../../api/schedules.ts'

const icons = { command: SquareTerminal, power: Power, backup: Archive }

type TaskOrStep = Pick<Step, 'action' | 'payload'> & { keep_backups?: number | null | undefined }

/** Shows the action and payload of a task in one line. */
export function TaskText({ action, payload, keep_backups = null }: TaskOrStep) {
  const { t } = useTranslation('schedules')
  const Icon = icons[action]
  return (
    <span className="flex min-w-0 items-start gap-2">
      <Icon aria-hidden className="mt-0.5 size-4 shrink-0 text-muted" />
      <span className="min-w-0 wrap-anywhere">
        <span className="font-medium">{t(`task_${action}`)}</span>{' '}
        <TaskPayload action={action} payload={payload} />
        {keep_backups !== null && (
          <span className="text-sm text-muted"> {t('task_keep_some', { count: keep_backups })}</span>
        )}
      </span>
    </span>
  )
}

function TaskPayload({ action, payload }: Pick<Step, 'action' | 'payload'>) {
  const { t } = useTranslation('schedules', 'server')
  if (action === 'command') return <code className="font-mono text-sm">{payload}</code>
  if (action === 'power') return <span className="text-muted">{t(`server:power.${payload}`)}</span>
  if (payload.trim() === '') return null
  const files = payload.split('\n').filter(Boolean).join(' ')
  return <span className="text-sm text-muted">{t('task_ignored_some', { files })}</span>
}
