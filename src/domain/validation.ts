import { uniqueViolation } from '../db/database.ts'
import { type Failure, invalid } from '../errors.ts'

/** 422 for one field, for rules that the schema cannot check; a reason says more than the rule does. */
export const invalidField = (
  field: string,
  rule: string,
  detail: string,
  more: Pick<Failure, 'reason' | 'values'> = {},
) => invalid([{ field, rule, detail, ...more }])

/**
 * Runs a write and turns a unique violation into a 422 on the field. `fields` maps parts of constraint
 * names to field names.
 */
export async function rejectDuplicates<T>(
  fields: Record<string, string>,
  write: () => Promise<T>,
): Promise<T> {
  try {
    return await write()
  } catch (error) {
    const constraint = uniqueViolation(error)
    const field =
      constraint === null
        ? undefined
        : Object.entries(fields).find(([part]) => constraint.includes(part))?.[1]
    if (field === undefined) throw error
    throw invalidField(field, 'unique', `The ${field} has already been taken.`)
  }
}
