import * as z from 'zod'
import type { ActingSession } from '../../../domain/auth/acting.ts'
import { resource, timestamp, Timestamp } from '../../../http/resource.ts'

/** A session in which an administrator acts for a user; its token is in the cookies. */
export const ActingSessionResource = resource(
  'acting_session',
  () => z.object({ user_id: z.int(), expires_at: Timestamp() }),
  (row: ActingSession) => ({ user_id: row.userId, expires_at: timestamp(row.expiresAt) }),
)
