import { type SQL, sql } from 'drizzle-orm'
import { settings } from '../db/schema.ts'
import type { User } from '../db/tables/users.ts'
import { badRequest } from '../errors.ts'

/** Column with whom the administrator asks for a second factor, for statements that find a caller. */
export const secondFactorSetting = (): SQL<unknown> =>
  sql<unknown>`(select ${settings.value} #>> '{}' from ${settings} where ${settings.key} = 'two_factor.required')`

/** Refuses with 400 who has to have a second factor and has none. Spec: none; rule AU-15. */
export function requireSecondFactor(user: User, required: unknown): void {
  const applies = required === 'everybody' || (required === 'administrators' && user.rootAdmin)
  if (applies && user.totpEnabledAt === null) {
    throw badRequest('Two-factor authentication must be set up first.', 'TwoFactorAuthRequiredException')
  }
}
