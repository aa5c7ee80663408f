import * as z from 'zod'
import { type Concern, concernIds } from '../../../domain/operations/overview.ts'
import { resource, timestamp, Timestamp } from '../../../http/resource.ts'

/** What needs attention, the most severe first. */
export const OverviewResource = resource(
  'overview',
  () =>
    z.object({
      attention: z.array(
        z.object({
          id: z.enum(concernIds as [Concern['id'], ...Concern['id'][]]),
          severity: z.enum(['critical', 'warning']),
          object: z.enum(['node', 'job', 'server']).nullable().describe('What the items are'),
          count: z.int().describe('At most 1,000'),
          items: z
            .array(
              z.object({
                id: z.union([z.int(), z.string()]),
                name: z.string(),
                detail: z
                  .string()
                  .nullable()
                  .describe('A cause, a version, seconds, the error of a job or the name of a backup'),
                since: Timestamp().nullable(),
              }),
            )
            .describe('The first ten'),
        }),
      ),
    }),
  (concerns: Concern[]) => ({
    attention: concerns
      .toSorted((one, other) => one.severity.localeCompare(other.severity))
      .map(({ items, ...concern }) => ({
        ...concern,
        items: items.map((item) => ({ ...item, since: item.since && timestamp(new Date(item.since)) })),
      })),
  }),
)
