import { useEffect, useState } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { buttonStyle } from '../../components/button.tsx'
import { EmptyState } from '../../components/states.tsx'
import { AdminAction } from '../admin-action.tsx'
import { AdminLink, useAdminNavigate } from '../admin-link.tsx'
import type { Setup } from '../resources.ts'
import { stepIcons } from './setup-nav.tsx'
import { pathAfter, pathBefore, pathOfStep, saveStep, type StepId } from './steps.ts'

/** The ways from a step to the others: back, later, and on when there is nothing left to do. */
export function StepFooter({ setup, step }: { setup: Setup; step: StepId }) {
  const { t } = useTranslation('admin')
  const navigate = useAdminNavigate()
  const state = setup.steps.find(({ id }) => id === step)?.state
  const before = pathBefore(setup, step)
  const after = pathAfter(setup, step)
  return (
    <div className="mt-4 flex flex-wrap items-center justify-between gap-2 border-t border-line pt-4">
      <AdminLink to={before ?? ''} className={buttonStyle('quiet')}>
        {t(before === null ? 'setup.leave' : 'setup.back')}
      </AdminLink>
      {state === 'done' ? (
        <AdminLink to={after} className={buttonStyle('primary')}>
          {t(after === '' ? 'setup.finish' : 'setup.continue')}
        </AdminLink>
      ) : (
        <AdminAction
          variant="quiet"
          label={t('setup.later')}
          run={() => saveStep(step, 'skipped')}
          onDone={() => navigate(after)}
        />
      )}
    </div>
  )
}

/** Says which step has to come first, and leads there. */
export function ComesFirst({ step }: { step: StepId }) {
  const { t } = useTranslation('admin')
  return (
    <EmptyState icon={stepIcons.open} title={t('setup.first', { step: t(`setup.step_${step}`) })}>
      <AdminLink to={pathOfStep(step)} className={buttonStyle('primary')}>
        {t('setup.go')}
      </AdminLink>
    </EmptyState>
  )
}

/**
 * Returns a function that loads a page anew: its policy names the daemons that there were when it was loaded, and the
 * browser has to reach a new one. It waits until what was just saved no longer counts as unsaved.
 */
export function useLoadPage(): (path: string) => void {
  const [path, setPath] = useState<string | null>(null)
  useEffect(() => {
    if (path !== null) location.assign(path)
  }, [path])
  return setPath
}
