import { createHash } from 'node:crypto'
import type { User } from '../../../db/tables/users.ts'

/**
 * Returns the URL of a user's picture: their own under the panel's origin, or Gravatar's for their e-mail address.
 * Spec: docs/accounts.md#profile-picture.
 */
export function avatarUrl(user: Pick<User, 'email' | 'avatarKey'>, panelUrl: string): string {
  if (user.avatarKey !== null) return `${panelUrl}/${user.avatarKey}`
  return `https://gravatar.com/avatar/${createHash('md5').update(user.email.trim().toLowerCase()).digest('hex')}`
}
