import type { EggVariable } from '../../db/tables/egg-variables.ts'
import { invalid } from '../../errors.ts'
import { validateVariable } from '../eggs/rules.ts'

/** What was sent as a server's environment. */
export type EnvironmentValues = Record<string, string | null | undefined>

/**
 * The values a server stores, of every variable of its egg; names the egg does not have are dropped,
 * and a missing value counts as null.
 *
 * Refuses with 422 on `environment.<NAME>`, one entry per broken rule of the egg. Rules nobody can
 * satisfy do not bind administrators. Spec: Application API, servers.
 */
export function variableValues(
  variables: readonly EggVariable[],
  environment: EnvironmentValues,
): Record<string, string> {
  const failures = variables.flatMap(({ envVariable, rules }) =>
    validateVariable(rules, environment[envVariable] ?? null)
      .filter(({ kind }) => kind === 'value')
      .map(({ rule }) => {
        const field = `environment.${envVariable}`
        return { field, rule, detail: `The ${field} field does not satisfy the rule "${rule}" of its egg.` }
      }),
  )
  if (failures.length > 0) throw invalid(failures)
  return Object.fromEntries(variables.map(({ envVariable }) => [envVariable, environment[envVariable] ?? '']))
}
