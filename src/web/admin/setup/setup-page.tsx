import { useQuery } from '@tanstack/react-query'
import { Navigate } from '@tanstack/react-router'
import type { ComponentType } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { NotFound } from '../../app/route-states.tsx'
import { usePageTitle } from '../../app/page-title.ts'
import { PageHeader } from '../../components/card.tsx'
import { Loaded } from '../../components/states.tsx'
import type { PageParams } from '../pages.ts'
import type { Setup } from '../resources.ts'
import { AllocationsStep } from './allocations-step.tsx'
import { GameStep } from './game-step.tsx'
import { LocationStep } from './location-step.tsx'
import { MailStep } from './mail-step.tsx'
import { NodeStep } from './node-step.tsx'
import { PanelStep } from './panel-step.tsx'
import { ServerStep } from './server-step.tsx'
import { SetupNav } from './setup-nav.tsx'
import { pageSteps, pathOfStep, setupQuery } from './steps.ts'

const components = {
  panel: PanelStep,
  mail: MailStep,
  location: LocationStep,
  node: NodeStep,
  allocations: AllocationsStep,
  game: GameStep,
  server: ServerStep,
} satisfies Record<string, ComponentType<{ setup: Setup }>>
type PageStep = keyof typeof components
const isPageStep = (step: string): step is PageStep => Object.hasOwn(components, step)

/** A step of the set-up; without one, the first that is open. Each has its own address, and the panel knows how far they are. */
export function SetupPage({ params: { step = '' } }: { params: PageParams }) {
  const query = useQuery(setupQuery)
  if (step !== '' && !isPageStep(step)) return <NotFound />
  return (
    <Loaded query={query}>
      {(setup) => (step === '' ? <NextStep setup={setup} /> : <StepPage step={step} setup={setup} />)}
    </Loaded>
  )
}

/** Goes on where the set-up was left; the page takes no place of its own in the history. */
function NextStep({ setup }: { setup: Setup }) {
  const next = pageSteps(setup).find(({ state }) => state === 'open')
  return <Navigate to="/admin/$" params={{ _splat: next ? pathOfStep(next.id) : '' }} replace />
}

function StepPage({ step, setup }: { step: PageStep; setup: Setup }) {
  const { t } = useTranslation('admin')
  const title = t(`setup.step_${step}`)
  usePageTitle(title, t('setup.title'))
  const Content = components[step]
  return (
    <div className="flex min-w-0 flex-col gap-4 lg:flex-row lg:gap-10">
      <SetupNav setup={setup} step={step} />
      <div className="flex min-w-0 flex-1 flex-col lg:max-w-3xl">
        <PageHeader title={title} text={t(`setup.step_${step}_text`)} />
        <Content setup={setup} />
      </div>
    </div>
  )
}
