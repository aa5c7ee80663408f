import type { EggVariable } from '../../db/tables/egg-variables.ts'
import { invalid } from '../../errors.ts'
import { validateVariable } from '../eggs/rules.ts'

/** The environment of a server as it was sent. */
export type EnvironmentValues = Record<string, string | null | undefined>

/**
 * Returns the values to store for the variables of an egg; drops names that the egg does not have, and treats a
 * missing value as null.
 *
 * Refuses with 422 on `environment.<NAME>`, one entry per broken rule. Rules that no value can satisfy do not
 * bind administrators. Spec: docs/servers.md#creation.
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
