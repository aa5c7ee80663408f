import * as z from 'zod'
import type { ApiKey } from '../../../db/tables/api-keys.ts'
import type { Identity } from '../../../db/tables/identities.ts'
import type { Passkey } from '../../../db/tables/passkeys.ts'
import type { Session } from '../../../db/tables/sessions.ts'
import type { SshKey } from '../../../db/tables/ssh-keys.ts'
import { publicSessionId } from '../../../domain/auth/sessions.ts'
import { resource, timestamp, Timestamp, timestampOrNull } from '../../../http/resource.ts'

/** A session of a user. */
export const UserSessionResource = resource(
  'session',
  () =>
    z.object({
      id: z.string().length(32),
      ip: z.string(),
      user_agent: z.string(),
      /** The administrator who acts for the user in it. */
      administrator_id: z.int().nullable(),
      last_used_at: Timestamp(),
      expires_at: Timestamp(),
      created_at: Timestamp(),
    }),
  (row: Session) => ({
    id: publicSessionId(row),
    ip: row.ip,
    user_agent: row.userAgent,
    administrator_id: row.administratorId,
    last_used_at: timestamp(row.lastActiveAt),
    expires_at: timestamp(row.expiresAt),
    created_at: timestamp(row.createdAt),
  }),
)

/** An account key of a user, without its secret. */
export const UserApiKeyResource = resource(
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

/** An SSH key of a user. */
export const UserSshKeyResource = resource(
  'ssh_key',
  () =>
    z.object({ id: z.int(), name: z.string(), fingerprint: z.string().length(43), created_at: Timestamp() }),
  (row: SshKey) => ({
    id: row.id,
    name: row.name,
    fingerprint: row.fingerprint,
    created_at: timestamp(row.createdAt),
  }),
)

/** A passkey of a user. */
export const UserPasskeyResource = resource(
  'passkey',
  () =>
    z.object({
      id: z.int(),
      name: z.string(),
      last_used_at: Timestamp().nullable(),
      created_at: Timestamp(),
    }),
  (row: Passkey) => ({
    id: row.id,
    name: row.name,
    last_used_at: timestampOrNull(row.lastUsedAt),
    created_at: timestamp(row.createdAt),
  }),
)

/** An account at a provider that a user linked. */
export const UserIdentityResource = resource(
  'identity',
  () =>
    z.object({
      id: z.int(),
      provider: z.string(),
      display_name: z.string(),
      last_used_at: Timestamp().nullable(),
      created_at: Timestamp(),
    }),
  (row: Identity) => ({
    id: row.id,
    provider: row.provider,
    display_name: row.displayName,
    last_used_at: timestampOrNull(row.lastUsedAt),
    created_at: timestamp(row.createdAt),
  }),
)
