import type { Session, SessionData } from '../../../db/tables/sessions.ts'
import { displayError } from '../../../errors.ts'
import type { Panel } from '../../../panel.ts'
import { takeSessionData } from '../sessions.ts'
import { challengeSeconds } from './webauthn.ts'

type StoredChallenge = NonNullable<SessionData['passkey']>

/** Builds the session data of a challenge for one purpose; it expires after five minutes. */
export const createChallenge = (
  panel: Panel,
  purpose: StoredChallenge['purpose'],
  { challenge }: { challenge: string },
): { passkey: StoredChallenge } => {
  const expiresAt = new Date(panel.now().getTime() + challengeSeconds * 1000).toISOString()
  return { passkey: { challenge, purpose, expiresAt } }
}

/**
 * Takes the challenge out of the session, so that each is used once. Refuses with 400 when there is none,
 * it is for another purpose, or it has expired. Spec: docs/accounts.md#passkeys.
 */
export async function consumeChallenge(
  panel: Panel,
  session: Session | null,
  purpose: StoredChallenge['purpose'],
): Promise<string> {
  const stored = session ? await takeSessionData(panel, session, 'passkey') : null
  const isValid = stored?.purpose === purpose && Date.parse(stored.expiresAt) > panel.now().getTime()
  if (!stored || !isValid)
    throw displayError('passkey_request_expired', 'The passkey request has expired. Try again.')
  return stored.challenge
}
