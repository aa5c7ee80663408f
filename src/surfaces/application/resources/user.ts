import * as z from 'zod'
import type { User } from '../../../db/tables/users.ts'
import { PaginationShape, Relationships, resource, timestamp, Timestamp } from '../../../http/resource.ts'

export const UserResource = resource(
  'user',
  () =>
    z.object({
      id: z.int(),
      external_id: z.string().nullable(),
      uuid: z.uuid(),
      username: z.string(),
      email: z.string(),
      first_name: z.string(),
      last_name: z.string(),
      language: z.string(),
      root_admin: z.boolean(),
      '2fa': z.boolean(),
      created_at: Timestamp(),
      updated_at: Timestamp(),
      relationships: Relationships(),
    }),
  (row: User) => ({
    id: row.id,
    external_id: row.externalId,
    uuid: row.uuid,
    username: row.username,
    email: row.email,
    first_name: row.firstName,
    last_name: row.lastName,
    language: row.language,
    root_admin: row.rootAdmin,
    '2fa': row.totpEnabledAt !== null,
    created_at: timestamp(row.createdAt),
    updated_at: timestamp(row.updatedAt),
  }),
)

/** What is not of the ecosystem; `meta` is left out of users that have none of it. Spec: docs/accounts.md#roles. */
const UserMeta = () => z.object({ role_id: z.int().optional(), sign_in_suspended_at: Timestamp().optional() })

export const presentUserMeta = (row: User): z.output<ReturnType<typeof UserMeta>> | null =>
  row.roleId === null && row.signInSuspendedAt === null
    ? null
    : {
        ...(row.roleId === null ? {} : { role_id: row.roleId }),
        ...(row.signInSuspendedAt === null ? {} : { sign_in_suspended_at: timestamp(row.signInSuspendedAt) }),
      }

export const UserWithMeta = () =>
  z.intersection(UserResource.One(), z.object({ meta: UserMeta().optional() }))

export const UserPage = () =>
  z.object({
    object: z.literal('list'),
    data: z.array(UserWithMeta()),
    meta: z.looseObject({ pagination: PaginationShape() }),
  })
