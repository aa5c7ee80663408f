import type { Session } from '../../db/tables/sessions.ts'
import { displayError } from '../../errors.ts'
import type { Panel } from '../../panel.ts'
import { type SessionData, takeFromSession } from '../sessions.ts'
import { challengeSeconds } from './webauthn.ts'

type Kept = NonNullable<SessionData['passkey']>

/** What a session remembers of a challenge that is open for five minutes, for one purpose. */
export const openChallenge = (
  panel: Panel,
  purpose: Kept['purpose'],
  { challenge }: { challenge: string },
): { passkey: Kept } => {
  const expiresAt = new Date(panel.now().getTime() + challengeSeconds * 1000).toISOString()
  return { passkey: { challenge, purpose, expiresAt } }
}

/**
 * The challenge that waits in this session, once: whatever comes of it, it is gone. Refuses with 400 when none
 * waits, or one of another purpose, or too old. Spec: Browser authentication, passkeys.
 */
export async function takeChallenge(
  panel: Panel,
  session: Session | null,
  purpose: Kept['purpose'],
): Promise<string> {
  const kept = session ? await takeFromSession(panel, session, 'passkey') : null
  const isOpen = kept?.purpose === purpose && Date.parse(kept.expiresAt) > panel.now().getTime()
  if (!kept || !isOpen) throw displayError('This request for a passkey has ended. Begin again.')
  return kept.challenge
}
