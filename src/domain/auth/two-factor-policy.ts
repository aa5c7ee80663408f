import { sql, type SQL } from 'drizzle-orm'
import { settings } from '../../db/schema.ts'
import type { User } from '../../db/tables/users.ts'
import { badRequest } from '../../errors.ts'

/** Column with the setting `two_factor.required`, for statements that authenticate a caller. */
export const twoFactorSettingColumn = (): SQL<unknown> =>
  sql<unknown>`(select ${settings.value} #>> '{}' from ${settings} where ${settings.key} = 'two_factor.required')`

/**
 * Refuses with 400 an account that must have two-factor authentication and does not. Spec:
 * docs/rules.md#au-15.
 */
export function requireTwoFactor(user: User, required: unknown): void {
  const isRequired = required === 'everybody' || (required === 'administrators' && user.rootAdmin)
  if (isRequired && user.totpEnabledAt === null) {
    throw badRequest(
      'Two-factor authentication is required. Set it up first.',
      'TwoFactorAuthRequiredException',
    )
  }
}
