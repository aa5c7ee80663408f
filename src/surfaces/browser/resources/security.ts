import * as z from 'zod'
import type { SecurityOverview } from '../../../domain/auth/security-overview.ts'
import type { AccountSession } from '../../../domain/auth/sessions.ts'
import { timestamp, Timestamp, timestampOrNull } from '../../../http/resource.ts'
import { PublicProviderShape } from './sign-in-methods.ts'

/** Spec: getAccountSecurity. */
const PasskeyShape = () =>
  z.strictObject({
    id: z.int(),
    name: z.string(),
    created_at: Timestamp(),
    last_used_at: Timestamp().nullable(),
  })

/** Spec: getAccountSecurity. */
const IdentityShape = () =>
  z.strictObject({
    id: z.int(),
    provider: z.string(),
    display_name: z.string(),
    created_at: Timestamp(),
    last_used_at: Timestamp().nullable(),
  })

/** Spec: getAccountSecurity. */
export const SecurityAnswer = () =>
  z.strictObject({
    passkeys_enabled: z.boolean(),
    providers: z.array(PublicProviderShape()),
    passkeys: z.array(PasskeyShape()),
    identities: z.array(IdentityShape()),
    notice: z.string().nullable(),
    error: z.string().nullable(),
  })

export const presentSecurity = (overview: SecurityOverview) => ({
  passkeys_enabled: overview.passkeysEnabled,
  providers: overview.providers,
  passkeys: overview.passkeys.map(({ id, name, createdAt, lastUsedAt }) => ({
    id,
    name,
    created_at: timestamp(createdAt),
    last_used_at: timestampOrNull(lastUsedAt),
  })),
  identities: overview.identities.map(({ id, provider, displayName, createdAt, lastUsedAt }) => ({
    id,
    provider,
    display_name: displayName,
    created_at: timestamp(createdAt),
    last_used_at: timestampOrNull(lastUsedAt),
  })),
  notice: overview.notice,
  error: overview.error,
})

/** Presents the sessions of an account. */
export const SessionsAnswer = () =>
  z.strictObject({
    sessions: z.array(
      z.strictObject({
        id: z.string(),
        ip: z.string(),
        user_agent: z.string(),
        is_current: z.boolean(),
        created_at: Timestamp(),
        last_used_at: Timestamp(),
      }),
    ),
  })

export const presentSessions = (sessions: AccountSession[]) => ({
  sessions: sessions.map(({ id, ip, userAgent, isCurrent, createdAt, lastActiveAt }) => ({
    id,
    ip,
    user_agent: userAgent,
    is_current: isCurrent,
    created_at: timestamp(createdAt),
    last_used_at: timestamp(lastActiveAt),
  })),
})
