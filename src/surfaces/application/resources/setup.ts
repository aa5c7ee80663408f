import * as z from 'zod'
import { type SetupProgress, setupSteps } from '../../../domain/setup/progress.ts'
import { resource } from '../../../http/resource.ts'

const StepState = () => z.enum(['open', 'done', 'skipped'])

/** How far the set-up of the panel is. */
export const SetupResource = resource(
  'setup',
  () =>
    z.object({
      is_started: z.boolean().describe('False on panels that were not set up in the browser'),
      is_complete: z.boolean().describe('Whether no step is open, or the checklist was put away'),
      is_dismissed: z.boolean(),
      steps: z.array(z.object({ id: z.enum(setupSteps), state: StepState() })),
      node_id: z.int().nullable().describe('The newest node'),
      server_id: z.int().nullable().describe('The newest server'),
    }),
  ({ isStarted, isDismissed, steps, nodeId, serverId }: SetupProgress) => ({
    is_started: isStarted,
    is_complete: !isStarted || isDismissed || !Object.values(steps).includes('open'),
    is_dismissed: isDismissed,
    steps: setupSteps.map((id) => ({ id, state: steps[id] })),
    node_id: nodeId,
    server_id: serverId,
  }),
)
