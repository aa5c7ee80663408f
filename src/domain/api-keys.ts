import { and, eq, lt, sql } from 'drizzle-orm'
import * as z from 'zod'
import { canonicalRange, isAddressRange } from '../addresses.ts'
import { only } from '../db/database.ts'
import { apiKeys, users } from '../db/schema.ts'
import type { Acl, ApiKey } from '../db/tables/api-keys.ts'
import { displayError } from '../errors.ts'
import { inTransaction, type Panel } from '../panel.ts'
import { record } from './activity.ts'
import { digest, randomText } from './secrets.ts'

/** Account keys one person may hold. Spec: Limits. */
const mostAccountKeys = 25

/** Addresses and CIDR ranges from which a key works. Spec: Limits; Authentication, 1. */
export const allowedIps = () =>
  z
    .array(
      z
        .string()
        .max(64, 'max')
        .refine(isAddressRange, { error: () => '' }),
    )
    .max(50, 'max')

export type ApiKeyInput = {
  type: ApiKey['type']
  description: string
  /** Stored in canonical form; what is no range matches nobody. */
  allowedIps?: string[]
  /** Levels of an Application key. */
  acl?: Acl
  /** After this instant it is refused; null is never. */
  expiresAt?: Date | null
}

/**
 * Adds a key to an account. `secret` is the second part of the bearer token and is not kept: it is
 * shown once. Refuses with 400 the account key beyond the 25th, also when several are asked for at once.
 */
export async function addApiKey(
  panel: Panel,
  user: { id: number },
  input: ApiKeyInput,
): Promise<{ key: ApiKey; secret: string }> {
  const secret = randomText(32)
  const secretHash = digest(secret)
  const key = await inTransaction(panel, async (panel) => {
    if (input.type === 'account') await takeKeySlot(panel, user)
    return only(
      await panel.db
        .insert(apiKeys)
        .values({
          userId: user.id,
          type: input.type,
          identifier: (input.type === 'account' ? 'ptlc_' : 'ptla_') + randomText(11),
          secretHash,
          description: input.description,
          allowedIps: (input.allowedIps ?? []).map((range) => canonicalRange(range) ?? range),
          acl: input.acl ?? {},
          expiresAt: input.expiresAt ?? null,
        })
        .returning(),
    )
  })
  return { key, secret }
}

async function takeKeySlot(panel: Panel, user: { id: number }): Promise<void> {
  const taken = await panel.db
    .update(users)
    .set({ apiKeyCount: sql`${users.apiKeyCount} + 1` })
    .where(and(eq(users.id, user.id), lt(users.apiKeyCount, mostAccountKeys)))
    .returning({ id: users.id })
  if (taken.length === 0) throw displayError('An account may hold at most 25 API keys.')
}

/** Records that a key was made or taken away, on the account to which it belongs. */
export const recordKey = (panel: Panel, event: 'user:api-key.create' | 'user:api-key.delete', key: ApiKey) =>
  record(panel, event, {
    userId: key.userId,
    properties: { identifier: key.identifier },
    subjects: [{ type: 'api_key', id: key.id }],
  })
