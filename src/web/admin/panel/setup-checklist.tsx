import { useQuery } from '@tanstack/react-query'
import { Circle, CircleCheck, CircleMinus, X } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { adminQuery, adminSend } from '../../api/admin.ts'
import { Card } from '../../components/card.tsx'
import { AdminAction } from '../admin-action.tsx'
import { AdminLink, linkStyle } from '../admin-link.tsx'
import { can } from '../levels.ts'
import type { Item, Setup } from '../resources.ts'

type Step = Setup['steps'][number]

/** Returns where a step is done. */
function pathOf({ id }: Step, { node_id: node }: Setup): string {
  const ofNode = (part: string) => (node === null ? 'nodes' : `nodes/${node}${part}`)
  const paths: Record<Step['id'], string> = {
    administrator: 'users',
    panel: 'settings',
    mail: 'settings/mail',
    location: 'locations',
    node: node === null ? 'nodes/new' : ofNode('/configuration'),
    allocations: ofNode('/allocations'),
    game: 'nests',
    server: 'servers/new',
  }
  return paths[id]
}

/** The steps of a new panel, until they are done or put away. */
export function SetupChecklist() {
  const { t } = useTranslation('admin')
  const { data: setup } = useQuery({
    ...adminQuery<Item<Setup>>('/setup'),
    select: ({ attributes }) => attributes,
  })
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
      <ol className="flex flex-col gap-1">
        {setup.steps.map((step) => (
          <StepRow key={step.id} step={step} setup={setup} isNext={step === next} />
        ))}
      </ol>
    </Card>
  )
}

const icons = { open: Circle, done: CircleCheck, skipped: CircleMinus }

function StepRow({ step, setup, isNext }: { step: Step; setup: Setup; isNext: boolean }) {
  const { t } = useTranslation('admin')
  const Icon = icons[step.state]
  return (
    <li className="flex min-h-10 items-center gap-3 text-sm" aria-current={isNext ? 'step' : undefined}>
      <Icon aria-hidden className={`size-5 shrink-0 ${step.state === 'done' ? 'text-good' : 'text-muted'}`} />
      <span className="min-w-0 flex-1">
        <AdminLink
          to={pathOf(step, setup)}
          className={step.state === 'open' ? linkStyle : 'text-muted hover:underline'}
        >
          {t(`setup.step_${step.id}`)}
        </AdminLink>
        <span className="sr-only"> ({t(`setup.${step.state}`)})</span>
        {isNext && <span className="block text-muted">{t(`setup.step_${step.id}_text`)}</span>}
      </span>
      {step.state === 'open' && can('settings', 'write') && (
        <AdminAction
          label={t('setup.skip')}
          variant="quiet"
          run={() => adminSend('PATCH', '/setup', { steps: { [step.id]: 'skipped' } })}
        />
      )}
    </li>
  )
}
