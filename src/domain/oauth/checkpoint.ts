import type { Session } from '../../db/tables/sessions.ts'
import type { Panel } from '../../panel.ts'
import { open, seal, type SecretPlace } from '../secrets.ts'
import { type OpenedSession, rememberInSession, type SessionData, sessionId } from '../sessions.ts'

/**
 * The session knows the token of its own challenge: a redirect cannot carry it, so the page asks for it. Sealed,
 * for the challenge itself is stored hashed. Spec: GET /auth/methods, oauth=checkpoint.
 */
export async function keepConfirmationToken(
  panel: Panel,
  { token }: OpenedSession,
  confirmationToken: string,
): Promise<void> {
  const id = sessionId(token)
  await rememberInSession(
    panel,
    { id },
    { oauthCheckpoint: await seal(panel, confirmationToken, placeOf(id)) },
  )
}

/** The token of the challenge that a sign-in at a provider led to; null without one, and after its five minutes. */
export async function readConfirmationToken(panel: Panel, session: Session | null): Promise<string | null> {
  const { challenge, oauthCheckpoint } = (session?.data ?? {}) as SessionData
  if (!session || !challenge || !oauthCheckpoint) return null
  if (Date.parse(challenge.expiresAt) <= panel.now().getTime()) return null
  return open(panel, oauthCheckpoint, placeOf(session.id))
}

const placeOf = (id: string): SecretPlace => ({ table: 'sessions', column: 'data', row: id })
