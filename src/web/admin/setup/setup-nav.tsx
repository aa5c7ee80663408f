import { Circle, CircleCheck, CircleMinus } from 'lucide-react'
import { useEffect, useRef } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { formatNumber } from '../../app/formats.ts'
import { classNames } from '../../components/class-names.ts'
import { AdminLink } from '../admin-link.tsx'
import type { Setup } from '../resources.ts'
import { pageSteps, pathOfStep, type StepId } from './steps.ts'

/** Signs of what is left, done and skipped. */
export const stepIcons = { open: Circle, done: CircleCheck, skipped: CircleMinus }

/** The steps of the set-up, each a link, and the way out. */
export function SetupNav({ setup, step: current }: { setup: Setup; step: StepId }) {
  const { t } = useTranslation('admin')
  const nav = useRef<HTMLElement>(null)
  const steps = pageSteps(setup)
  useEffect(() => {
    const link = nav.current?.querySelector<HTMLElement>('[aria-current]')
    if (nav.current && link) nav.current.scrollLeft = link.offsetLeft - nav.current.clientWidth / 3
  }, [current])
  return (
    <div className="flex min-w-0 flex-col gap-2 lg:w-56 lg:shrink-0">
      <div className="flex items-baseline justify-between gap-3 px-1 lg:flex-col lg:items-start lg:gap-0.5 lg:px-3 lg:pb-2">
        <p className="font-semibold">{t('setup.title')}</p>
        <p className="text-sm text-muted">
          {t('setup.progress', {
            step: formatNumber(steps.findIndex(({ id }) => id === current) + 1),
            total: formatNumber(steps.length),
          })}
        </p>
      </div>
      <nav
        ref={nav}
        aria-label={t('setup.steps')}
        className="relative min-w-0 overflow-x-auto lg:overflow-visible"
      >
        <ol className="flex gap-1 p-1 lg:flex-col lg:gap-0.5">
          {steps.map(({ id, state }) => {
            const Icon = stepIcons[state]
            return (
              <li key={id} className="shrink-0">
                <AdminLink
                  to={pathOfStep(id)}
                  aria-current={id === current ? 'step' : undefined}
                  className={classNames(
                    'flex min-h-10 items-center gap-2.5 rounded-control px-3 text-sm font-medium whitespace-nowrap',
                    id === current
                      ? 'bg-brand-soft text-brand-text'
                      : 'text-muted hover:bg-raised hover:text-ink',
                  )}
                >
                  <Icon
                    aria-hidden
                    className={classNames('size-4 shrink-0', state === 'done' && 'text-good')}
                  />
                  {t(`setup.step_${id}`)}
                  <span className="sr-only">({t(`setup.${state}`)})</span>
                </AdminLink>
              </li>
            )
          })}
        </ol>
      </nav>
      <AdminLink
        to=""
        className="hidden min-h-9 items-center px-3 text-sm text-muted hover:text-ink hover:underline lg:flex"
      >
        {t('setup.leave')}
      </AdminLink>
    </div>
  )
}
