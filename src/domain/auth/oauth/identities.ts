import { and, eq } from 'drizzle-orm'
import type { ProviderIdentity } from '../../../adapters/oauth.ts'
import { identities } from '../../../db/schema.ts'
import type { Identity } from '../../../db/tables/identities.ts'
import { notFound } from '../../../errors.ts'
import { inTransaction, type Panel } from '../../../panel.ts'
import { recordEvent } from '../../activity/record.ts'
import { enqueueSignInMethodNotice } from '../../mail/enqueue.ts'
import { lockCaller, requireCaller } from '../caller.ts'
import { requireCurrentPassword } from '../current-password.ts'
import { requireRemainingSignInMethod } from '../sign-in-methods.ts'
import type { ProviderId } from './providers.ts'

/** Linked identities per account. */
const maxIdentities = 25

/**
 * Links the identity to the caller's account. Returns null, or the reason why not: it is linked to another
 * account, or the caller has 25 already. An identity that the caller has linked before stays as it is.
 * Records `user:identity.create`.
 */
export async function linkIdentity(
  panel: Panel,
  provider: ProviderId,
  identity: ProviderIdentity,
): Promise<string | null> {
  return inTransaction(panel, async (tx) => {
    const user = await lockCaller(tx)
    const existing = await tx.db.select().from(identities).where(eq(identities.userId, user.id))
    if (existing.some((each) => isSameIdentity(each, provider, identity))) return null
    if (existing.length >= maxIdentities)
      return `An account can have at most ${maxIdentities} linked accounts.`
    const now = tx.now()
    const linked = await tx.db
      .insert(identities)
      .values({ userId: user.id, provider, ...identity, createdAt: now, updatedAt: now })
      .onConflictDoNothing()
      .returning({ id: identities.id })
    if (linked.length === 0) return 'This account is already linked to another user.'
    await recordEvent(tx, 'user:identity.create', { userId: user.id, properties: { provider } })
    await enqueueSignInMethodNotice(tx, user.id, 'identity')
    return null
  })
}

/**
 * Unlinks one of the caller's identities. Refuses with 400 a wrong password and the removal of the last
 * sign-in method, with 404 an unknown identity. Records `user:identity.delete`. Spec:
 * deleteAccountSecurityOauthById.
 */
export async function unlinkIdentity(panel: Panel, id: number, password: string): Promise<void> {
  await requireCurrentPassword(panel, requireCaller(panel), password)
  await inTransaction(panel, async (tx) => {
    const user = await lockCaller(tx)
    const [unlinked] = await tx.db
      .delete(identities)
      .where(and(eq(identities.id, id), eq(identities.userId, user.id)))
      .returning()
    if (!unlinked) throw notFound()
    await requireRemainingSignInMethod(tx, user)
    await recordEvent(tx, 'user:identity.delete', {
      userId: user.id,
      properties: { provider: unlinked.provider },
    })
  })
}

const isSameIdentity = (stored: Identity, provider: ProviderId, { issuer, subject }: ProviderIdentity) =>
  stored.provider === provider && stored.issuer === issuer && stored.subject === subject
