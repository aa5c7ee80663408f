import { adminQuery, adminSend } from '../../api/admin.ts'
import type { Item, Setup } from '../resources.ts'

export type Step = Setup['steps'][number]
export type StepId = Step['id']

/** Path of the set-up below `/admin/`. */
const setupPath = 'setup'

/** How far the set-up is. */
export const setupQuery = {
  ...adminQuery<Item<Setup>>('/setup'),
  select: ({ attributes }: Item<Setup>) => attributes,
}

/** Lists the steps that are pages: the first one ended before there was an administrator. */
export const pageSteps = ({ steps }: Setup): Step[] => steps.filter(({ id }) => id !== 'administrator')

/** Returns the path of a step below `/admin/`. */
export const pathOfStep = (id: StepId): string => (id === 'administrator' ? 'users' : `${setupPath}/${id}`)

/** Returns the path of the step after this one: the overview after the last. */
export function pathAfter(setup: Setup, id: StepId): string {
  const steps = pageSteps(setup)
  const next = steps[steps.findIndex((step) => step.id === id) + 1]
  return next ? pathOfStep(next.id) : ''
}

/** Returns the path of the step before this one, or null for the first. */
export function pathBefore(setup: Setup, id: StepId): string | null {
  const steps = pageSteps(setup)
  const before = steps[steps.findIndex((step) => step.id === id) - 1]
  return before ? pathOfStep(before.id) : null
}

/** Stores the state of a step. */
export const saveStep = (id: StepId, state: Step['state']): Promise<unknown> =>
  adminSend('PATCH', '/setup', { steps: { [id]: state } })
