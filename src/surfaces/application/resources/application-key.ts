import * as z from 'zod'
import type { ApiKey } from '../../../db/tables/api-keys.ts'
import { effectiveAcl } from '../../../domain/auth/access-levels.ts'
import { resource, timestamp, Timestamp, timestampOrNull } from '../../../http/resource.ts'
import { presentLevels } from './levels.ts'

/** An Application key without its secret, which cannot be read again. */
export const ApplicationKeyResource = resource(
  'api_key',
  () =>
    z.object({
      identifier: z.string().length(16),
      description: z.string(),
      allowed_ips: z.array(z.string()),
      acl: z.record(z.string(), z.int().min(0).max(3)),
      user_id: z.int(),
      last_used_at: Timestamp().nullable(),
      expires_at: Timestamp().nullable(),
      created_at: Timestamp(),
    }),
  (row: ApiKey) => ({
    identifier: row.identifier,
    description: row.description,
    allowed_ips: row.allowedIps,
    acl: presentLevels(effectiveAcl(row.acl)),
    user_id: row.userId,
    last_used_at: timestampOrNull(row.lastUsedAt),
    expires_at: timestampOrNull(row.expiresAt),
    created_at: timestamp(row.createdAt),
  }),
)

/** The answer to a creation, the only one with the secret: identifier and secret together are the bearer token. */
export const CreatedApplicationKey = () =>
  z.intersection(
    ApplicationKeyResource.One(),
    z.object({ meta: z.object({ secret_token: z.string().length(32) }) }),
  )
