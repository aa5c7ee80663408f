import * as z from 'zod'
import { type NodePlacement, placementReasons } from '../../../domain/nodes/placement.ts'
import { resource } from '../../../http/resource.ts'

/** Whether a node takes a server of some size, and why not. Spec: docs/remote.md#placement. */
export const NodePlacementResource = resource(
  'node_placement',
  () =>
    z.object({
      node_id: z.int(),
      name: z.string(),
      fits: z.boolean(),
      reasons: z.array(z.enum(placementReasons)).describe('Why the node does not take the server'),
      free: z
        .object({ memory: z.int().nullable(), disk: z.int().nullable() })
        .describe('What it may still promise in MiB; null without a limit'),
    }),
  ({ id, name, reasons, freeMemory, freeDisk }: NodePlacement) => ({
    node_id: id,
    name,
    fits: reasons.length === 0,
    reasons,
    free: { memory: freeMemory, disk: freeDisk },
  }),
)
