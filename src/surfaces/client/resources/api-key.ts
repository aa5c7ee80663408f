import * as z from 'zod'
import type { ApiKey } from '../../../db/tables/api-keys.ts'
import { resource, timestamp, Timestamp, timestampOrNull } from '../../../http/resource.ts'

/** A Client API key without its secret, which cannot be read again. */
export const ApiKeyResource = resource(
  'api_key',
  () =>
    z.object({
      identifier: z.string().length(16),
      description: z.string(),
      allowed_ips: z.array(z.string()),
      last_used_at: Timestamp().nullable(),
      created_at: Timestamp(),
    }),
  (row: ApiKey) => ({
    identifier: row.identifier,
    description: row.description,
    allowed_ips: row.allowedIps,
    last_used_at: timestampOrNull(row.lastUsedAt),
    created_at: timestamp(row.createdAt),
  }),
)

/** The answer to a creation, the only one with the secret: identifier and secret together are the bearer token. */
export const CreatedApiKey = () =>
  z.intersection(ApiKeyResource.One(), z.object({ meta: z.object({ secret_token: z.string().length(32) }) }))
