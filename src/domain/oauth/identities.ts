import { and, eq } from 'drizzle-orm'
import type { ProvidedIdentity } from '../../adapters/oauth.ts'
import { identities } from '../../db/schema.ts'
import type { Identity } from '../../db/tables/identities.ts'
import { notFound } from '../../errors.ts'
import { inTransaction, type Panel } from '../../panel.ts'
import { callersAccount, lockCallersAccount } from '../account/caller.ts'
import { requirePassword } from '../account/current-password.ts'
import { requireWayIn } from '../account/ways-in.ts'
import { record } from '../activity.ts'
import { announceSignInMethod } from '../mail/orders.ts'
import type { ProviderId } from './providers.ts'

/** Accounts at providers that one person may link. */
const mostIdentities = 25

/**
 * The caller signs in with this identity from now on; null when so, else why not: it is linked to another
 * account, which keeps it, or it would be the 26th. One that is his already stays as it is. Records
 * `user:identity.create`.
 */
export async function linkIdentity(
  panel: Panel,
  provider: ProviderId,
  identity: ProvidedIdentity,
): Promise<string | null> {
  return inTransaction(panel, async (panel) => {
    const user = await lockCallersAccount(panel)
    const held = await panel.db.select().from(identities).where(eq(identities.userId, user.id))
    if (held.some((each) => isSame(each, provider, identity))) return null
    if (held.length >= mostIdentities) return `An account may have at most ${mostIdentities} linked accounts.`
    const now = panel.now()
    const linked = await panel.db
      .insert(identities)
      .values({ userId: user.id, provider, ...identity, createdAt: now, updatedAt: now })
      .onConflictDoNothing()
      .returning({ id: identities.id })
    if (linked.length === 0) return 'This account there is linked to another account here.'
    await record(panel, 'user:identity.create', { userId: user.id, properties: { provider } })
    await announceSignInMethod(panel, user.id, 'identity')
    return null
  })
}

/**
 * The caller does not sign in with this identity any more. Refuses with 400 a wrong password, and what would
 * leave him no way to sign in; with 404 what is not his. Records `user:identity.delete`.
 * Spec: DELETE /account/security/oauth/{id}.
 */
export async function unlinkIdentity(panel: Panel, id: number, password: string): Promise<void> {
  await requirePassword(panel, callersAccount(panel), password)
  await inTransaction(panel, async (panel) => {
    const user = await lockCallersAccount(panel)
    const [unlinked] = await panel.db
      .delete(identities)
      .where(and(eq(identities.id, id), eq(identities.userId, user.id)))
      .returning()
    if (!unlinked) throw notFound()
    await requireWayIn(panel, user)
    await record(panel, 'user:identity.delete', {
      userId: user.id,
      properties: { provider: unlinked.provider },
    })
  })
}

const isSame = (one: Identity, provider: ProviderId, { issuer, subject }: ProvidedIdentity) =>
  one.provider === provider && one.issuer === issuer && one.subject === subject
