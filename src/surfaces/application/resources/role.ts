import * as z from 'zod'
import type { Role } from '../../../db/tables/roles.ts'
import { Relationships, resource, timestamp, Timestamp } from '../../../http/resource.ts'
import { presentLevels } from './levels.ts'

/** A role of administrators. Spec: docs/accounts.md#roles. */
export const RoleResource = resource(
  'role',
  () =>
    z.object({
      id: z.int(),
      name: z.string(),
      description: z.string(),
      acl: z.record(z.string(), z.int().min(0).max(3)),
      two_factor_required: z.boolean(),
      updated_at: Timestamp(),
      created_at: Timestamp(),
      relationships: Relationships(),
    }),
  (row: Role) => ({
    id: row.id,
    name: row.name,
    description: row.description,
    acl: presentLevels(row.acl),
    two_factor_required: row.twoFactorRequired,
    updated_at: timestamp(row.updatedAt),
    created_at: timestamp(row.createdAt),
  }),
)
