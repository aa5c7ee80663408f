import type { Panel } from '../../panel.ts'
import { digest } from '../secrets.ts'
import { requireCaller } from './caller.ts'

/**
 * Returns the uuid by which a daemon reports what the caller does with a token. A daemon reports one user: while an
 * administrator acts for one, the uuid is that of their session, which stands for both. Refuses with 401 callers that
 * are not users.
 */
export function tokenUserOf(panel: Panel): string {
  const { actor } = panel
  const { uuid } = requireCaller(panel)
  return actor.kind === 'user' && actor.administrator && actor.session
    ? actingTokenUser(actor.session.id)
    : uuid
}

/** Returns the uuid that stands for a session in which an administrator acts for a user. */
export function actingTokenUser(sessionId: string): string {
  const hex = digest(`acting ${sessionId}`)
  const ends = [8, 12, 16, 20, 32]
  return ends.map((end, at) => hex.slice(ends[at - 1] ?? 0, end)).join('-')
}
