import { sql, type SQL } from 'drizzle-orm'
import { roles, settings, users } from '../../db/schema.ts'
import type { User } from '../../db/tables/users.ts'
import { badRequest } from '../../errors.ts'

/**
 * Column with the setting `two_factor.required`, for statements that authenticate a caller (`users`); `everybody` when
 * their role demands it.
 */
export const twoFactorSettingColumn = (): SQL<unknown> =>
  sql<unknown>`case
    when exists (select from ${roles} where ${roles.id} = ${users.roleId} and ${roles.twoFactorRequired})
    then 'everybody'
    else (select ${settings.value} #>> '{}' from ${settings} where ${settings.key} = 'two_factor.required')
  end`

/**
 * Refuses with 400 an account that must have two-factor authentication and does not. Spec:
 * docs/rules.md#au-15.
 */
export function requireTwoFactor(user: User, required: unknown): void {
  const isAdministrator = user.rootAdmin || user.roleId !== null
  const isRequired = required === 'everybody' || (required === 'administrators' && isAdministrator)
  if (isRequired && user.totpEnabledAt === null) {
    throw badRequest('two_factor_required', 'Two-factor authentication is required. Set it up first.', {
      code: 'TwoFactorAuthRequiredException',
    })
  }
}
