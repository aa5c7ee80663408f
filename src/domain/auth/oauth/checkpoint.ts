import type { Session, SessionData } from '../../../db/tables/sessions.ts'
import type { Panel } from '../../../panel.ts'
import { decrypt, encrypt, type SecretLocation } from '../../secrets.ts'
import { mergeSessionData, type NewSession, sessionId } from '../sessions.ts'

/**
 * Stores the confirmation token of a challenge in its own session, because a redirect cannot carry it.
 * Encrypted, since the challenge itself contains only its hash. Spec: getAuthMethods.
 */
export async function storeConfirmationToken(
  panel: Panel,
  { token }: NewSession,
  confirmationToken: string,
): Promise<void> {
  const id = sessionId(token)
  await mergeSessionData(
    panel,
    { id },
    { oauthCheckpoint: await encrypt(panel, confirmationToken, sessionDataLocation(id)) },
  )
}

/**
 * Returns the confirmation token of a challenge that began at a provider, or null without one or when the
 * challenge has expired.
 */
export async function readConfirmationToken(panel: Panel, session: Session | null): Promise<string | null> {
  const { challenge, oauthCheckpoint }: SessionData = session?.data ?? {}
  if (!session || !challenge || !oauthCheckpoint) return null
  if (Date.parse(challenge.expiresAt) <= panel.now().getTime()) return null
  return decrypt(panel, oauthCheckpoint, sessionDataLocation(session.id))
}

const sessionDataLocation = (id: string): SecretLocation => ({ table: 'sessions', column: 'data', row: id })
