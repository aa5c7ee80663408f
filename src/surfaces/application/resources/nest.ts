import * as z from 'zod'
import type { Nest } from '../../../db/tables/nests.ts'
import { Relationships, resource, timestamp, Timestamp } from '../../../http/resource.ts'

export const NestResource = resource(
  'nest',
  () =>
    z.object({
      id: z.int(),
      uuid: z.uuid(),
      author: z.string(),
      name: z.string(),
      description: z.string().nullable(),
      created_at: Timestamp(),
      updated_at: Timestamp(),
      relationships: Relationships(),
    }),
  (row: Nest) => ({
    id: row.id,
    uuid: row.uuid,
    author: row.author,
    name: row.name,
    description: row.description,
    created_at: timestamp(row.createdAt),
    updated_at: timestamp(row.updatedAt),
  }),
)
