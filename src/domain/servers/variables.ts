import type { EggVariable } from '../../db/tables/egg-variables.ts'
import { type Failure, invalid } from '../../errors.ts'
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
export async function variableValues(
  variables: readonly EggVariable[],
  environment: EnvironmentValues,
): Promise<Record<string, string>> {
  const failures: Failure[] = []
  for (const { envVariable, rules } of variables) {
    const field = `environment.${envVariable}`
    for (const { kind, rule } of await validateVariable(rules, environment[envVariable] ?? null)) {
      const detail = `The ${field} field does not satisfy the rule "${rule}" of its egg.`
      if (kind === 'value')
        failures.push({ field, rule, detail, reason: 'egg_rule_broken', values: { rule } })
    }
  }
  if (failures.length > 0) throw invalid(failures)
  return Object.fromEntries(variables.map(({ envVariable }) => [envVariable, environment[envVariable] ?? '']))
}
