import { and, eq, gt, sql } from 'drizzle-orm'
import { emailVerifications } from '../../db/schema.ts'
import type { EmailVerification } from '../../db/tables/email-verifications.ts'
import type { User } from '../../db/tables/users.ts'
import type { Panel, Tx } from '../../panel.ts'
import { digest, randomText } from '../secrets.ts'

/** Letters and digits: 256 bits. */
const tokenLength = 43
/** Hours for which a link is valid. */
export const emailLinkHours = 24

/** A link that verifies an address once, and the hash under which its token is stored. */
export type EmailLink = { url: string; tokenHash: string }

/** Creates a link for this address of the account; earlier links stay valid. Only the hash of its token is stored. */
export async function createEmailLink(
  panel: Panel,
  user: Pick<User, 'id'>,
  email: string,
): Promise<EmailLink> {
  const token = randomText(tokenLength)
  const tokenHash = digest(token)
  const createdAt = panel.now()
  const expiresAt = new Date(createdAt.getTime() + emailLinkHours * 3_600_000)
  await panel.db
    .insert(emailVerifications)
    .values({ userId: user.id, email, tokenHash, createdAt, expiresAt })
  return { url: `${panel.config.url}/account/verify-email/${token}`, tokenHash }
}

/** Deletes a link whose mail was not sent. */
export async function deleteEmailLink(tx: Tx, { tokenHash }: EmailLink): Promise<void> {
  await tx.db.delete(emailVerifications).where(eq(emailVerifications.tokenHash, tokenHash))
}

/** Finds the live link of the account with this token. */
export async function findEmailLink(
  tx: Tx,
  user: Pick<User, 'id'>,
  token: string,
): Promise<EmailVerification | null> {
  const [link] = await tx.db
    .select()
    .from(emailVerifications)
    .where(
      and(
        eq(emailVerifications.tokenHash, digest(token)),
        eq(emailVerifications.userId, user.id),
        gt(emailVerifications.expiresAt, tx.now()),
      ),
    )
  return link ?? null
}

/** Deletes the link. Returns false when another request used it first. */
export async function consumeEmailLink(tx: Tx, { id }: EmailVerification): Promise<boolean> {
  const deleted = await tx.db
    .delete(emailVerifications)
    .where(eq(emailVerifications.id, id))
    .returning({ id: emailVerifications.id })
  return deleted.length > 0
}

/** Deletes the links of the account to this address. */
export async function cancelEmailLinks(tx: Tx, userId: number, email: string): Promise<void> {
  await tx.db
    .delete(emailVerifications)
    .where(
      and(
        eq(emailVerifications.userId, userId),
        eq(sql`lower(${emailVerifications.email})`, email.toLowerCase()),
      ),
    )
}
