import { useQuery } from '@tanstack/react-query'
import { X } from 'lucide-react'
import { useTranslation } from '../../app/use-translation.ts'
import { adminSend } from '../../api/admin.ts'
import { buttonStyle } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { AdminAction } from '../admin-action.tsx'
import { AdminLink, linkStyle } from '../admin-link.tsx'
import { can } from '../levels.ts'
import { stepIcons } from '../setup/setup-nav.tsx'
import { pathOfStep, saveStep, setupQuery, type Step } from '../setup/steps.ts'

/** The steps of a new panel, until they are done or put away. */
export function SetupChecklist() {
  const { t } = useTranslation('admin')
  const { data: setup } = useQuery(setupQuery)
  if (!setup || setup.is_complete) return null
  const next = setup.steps.find(({ state }) => state === 'open')
  return (
    <Card
      title={t('setup.title')}
      text={t('setup.text')}
      actions={
        can('settings', 'write') && (
          <AdminAction
            icon={X}
            isCompact
            label={t('setup.dismiss')}
            run={() => adminSend('PATCH', '/setup', { is_dismissed: true })}
          />
        )
      }
    >
      {next && can('settings', 'write') && (
        <AdminLink to="setup" className={`${buttonStyle('primary')} mb-3`}>
          {t('setup.resume')}
        </AdminLink>
      )}
      <ol className="flex flex-col gap-1">
        {setup.steps.map((step) => (
          <StepRow key={step.id} step={step} isNext={step === next} />
        ))}
      </ol>
    </Card>
  )
}

function StepRow({ step, isNext }: { step: Step; isNext: boolean }) {
  const { t } = useTranslation('admin')
  const Icon = stepIcons[step.state]
  return (
    <li className="flex min-h-10 items-center gap-3 text-sm" aria-current={isNext ? 'step' : undefined}>
      <Icon aria-hidden className={`size-5 shrink-0 ${step.state === 'done' ? 'text-good' : 'text-muted'}`} />
      <span className="min-w-0 flex-1">
        <AdminLink
          to={pathOfStep(step.id)}
          className={step.state === 'open' ? linkStyle : 'text-muted hover:underline'}
        >
          {t(`setup.step_${step.id}`)}
        </AdminLink>
        <span className="sr-only"> ({t(`setup.${step.state}`)})</span>
        {isNext && <span className="block text-muted">{t(`setup.step_${step.id}_text`)}</span>}
      </span>
      {step.state === 'open' && can('settings', 'write') && (
        <AdminAction label={t('setup.skip')} variant="quiet" run={() => saveStep(step.id, 'skipped')} />
      )}
    </li>
  )
}
