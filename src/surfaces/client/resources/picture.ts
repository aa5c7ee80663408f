import { createHash } from 'node:crypto'
import type { User } from '../../../db/tables/users.ts'

/**
 * Where somebody's picture is: his own below the panel's origin, or the one that Gravatar has for the
 * address. Spec: Client API, account: avatar.
 */
export function pictureOf(user: Pick<User, 'email' | 'avatarKey'>, panelUrl: string): string {
  if (user.avatarKey !== null) return `${panelUrl}/${user.avatarKey}`
  return `https://gravatar.com/avatar/${createHash('md5').update(user.email.trim().toLowerCase()).digest('hex')}`
}
