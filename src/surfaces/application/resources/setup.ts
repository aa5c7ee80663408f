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
      egg_id: z.int().nullable().describe('The egg that was chosen for the first server'),
      server_id: z.int().nullable().describe('The newest server'),
      url: z.url().describe('The address of the panel'),
      sends_mail: z.boolean().describe('Whether the panel has a mail service'),
    }),
  ({ isStarted, isDismissed, steps, ...progress }: SetupProgress) => ({
    is_started: isStarted,
    is_complete: !isStarted || isDismissed || !Object.values(steps).includes('open'),
    is_dismissed: isDismissed,
    steps: setupSteps.map((id) => ({ id, state: steps[id] })),
    node_id: progress.nodeId,
    egg_id: progress.eggId,
    server_id: progress.serverId,
    url: progress.url,
    sends_mail: progress.sendsMail,
  }),
)
