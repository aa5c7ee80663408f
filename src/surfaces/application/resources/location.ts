import * as z from 'zod'
import type { Location } from '../../../db/tables/locations.ts'
import { Relationships, resource, timestamp, Timestamp } from '../../../http/resource.ts'

export const LocationResource = resource(
  'location',
  () =>
    z.object({
      id: z.int(),
      short: z.string(),
      long: z.string().nullable(),
      region: z.string().nullable(),
      updated_at: Timestamp(),
      created_at: Timestamp(),
      relationships: Relationships(),
    }),
  (row: Location) => ({
    id: row.id,
    short: row.short,
    long: row.long,
    region: row.region,
    updated_at: timestamp(row.updatedAt),
    created_at: timestamp(row.createdAt),
  }),
)
