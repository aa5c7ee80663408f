import * as z from 'zod'
import type { Mount } from '../../../db/tables/mounts.ts'
import { Relationships, resource, timestamp, Timestamp } from '../../../http/resource.ts'

/** Spec: docs/servers.md#mounts. */
export const MountResource = resource(
  'mount',
  () =>
    z.object({
      id: z.int(),
      uuid: z.uuid(),
      name: z.string(),
      description: z.string(),
      source: z.string(),
      target: z.string(),
      read_only: z.boolean(),
      user_mountable: z.boolean(),
      created_at: Timestamp(),
      updated_at: Timestamp(),
      relationships: Relationships(),
    }),
  (row: Mount) => ({
    id: row.id,
    uuid: row.uuid,
    name: row.name,
    description: row.description,
    source: row.source,
    target: row.target,
    read_only: row.readOnly,
    user_mountable: row.userMountable,
    created_at: timestamp(row.createdAt),
    updated_at: timestamp(row.updatedAt),
  }),
)
