import { and, eq, sql } from 'drizzle-orm'
import * as z from 'zod'
import { single } from '../../db/database.ts'
import { eggs, eggVariables, servers } from '../../db/schema.ts'
import type { EggVariable } from '../../db/tables/egg-variables.ts'
import { notFound } from '../../errors.ts'
import { inTransaction, type Panel, type Tx } from '../../panel.ts'
import { recordAdminEvent, recordAdminUpdate } from '../activity/record.ts'
import { boolean } from '../fields.ts'
import { rejectDuplicates } from '../validation.ts'
import { omitUndefined } from './input.ts'
import { describeRuleProblems } from './rules.ts'
import { isReservedName, isVariableName } from './variable-names.ts'

/**
 * Spec: postApplicationNestsByNestEggsByEggVariables. Texts are stored as they were sent; rules are joined by
 * `|`.
 */
export const EggVariableInput = () =>
  z.object({
    name: z.string().trim().min(1, 'between').max(191, 'between').meta({ pattern: '\\S' }),
    description: z.string().max(10_000, 'max').nullish(),
    env_variable: z
      .string()
      .trim()
      .min(1, 'required')
      .refine(isVariableName, 'regex')
      .refine((name) => !isReservedName(name), 'not_in')
      .meta({ pattern: '\\S' }),
    default_value: z.string().max(65_535, 'max').nullish(),
    user_viewable: boolean().nullish(),
    user_editable: boolean().nullish(),
    rules: z.string().max(10_000, 'max').nullish(),
  })
/** The same fields, all optional. */
export const EggVariableChanges = () => EggVariableInput().partial()
type EggVariableInput = z.output<ReturnType<typeof EggVariableInput>>
type EggVariableChanges = z.output<ReturnType<typeof EggVariableChanges>>

/** A variable, and which of its rules cannot be used: users cannot edit it while there are any. */
export type VariableWithWarnings = { variable: EggVariable; warnings: string[] }

type EggPath = { nest: number; egg: number }

const uniqueConstraints = { egg_variables: 'env_variable' }

/**
 * Adds a variable to an egg. Refuses with 404 an egg of another nest, with 422 a name that the egg already has.
 * Records `admin:egg-variable.create`.
 */
export function addEggVariable(
  panel: Panel,
  path: EggPath,
  input: EggVariableInput,
): Promise<VariableWithWarnings> {
  return withEggLock(panel, path, async (tx) => {
    const values = { ...toColumns(input), eggId: path.egg, name: input.name, envVariable: input.env_variable }
    const added = single(await tx.db.insert(eggVariables).values(values).returning())
    const properties = { variable: added.envVariable }
    await recordAdminEvent(tx, 'admin:egg-variable.create', toSubject(added), properties)
    return withWarnings(added)
  })
}

/**
 * Changes the fields that were sent. With another `env_variable` the values of servers move to the new name;
 * startup commands and files that mention the old name stay as they are. Refuses with 404 a variable of another
 * egg, with 422 a name that the egg already has. Records `admin:egg-variable.update`.
 * Spec: docs/eggs.md#variables.
 */
export function changeEggVariable(
  panel: Panel,
  path: EggPath & { variable: number },
  input: EggVariableChanges,
): Promise<VariableWithWarnings> {
  return withEggLock(panel, path, async (tx) => {
    const ofEgg = and(eq(eggVariables.id, path.variable), eq(eggVariables.eggId, path.egg))
    const [before] = await tx.db.select().from(eggVariables).where(ofEgg)
    if (!before) throw notFound()
    const changes = { ...toColumns(input), updatedAt: tx.now() }
    const after = single(await tx.db.update(eggVariables).set(changes).where(ofEgg).returning())
    await recordAdminUpdate(tx, 'admin:egg-variable.update', toSubject(after), {
      variable: after.envVariable,
      before,
      after,
    })
    if (after.envVariable !== before.envVariable)
      await renameServerValues(tx, path.egg, before.envVariable, after.envVariable)
    return withWarnings(after)
  })
}

/**
 * Removes a variable. Servers keep their values, which are used again when the variable is added again. Refuses
 * with 404 a variable of another egg. Records `admin:egg-variable.delete`.
 */
export function removeEggVariable(panel: Panel, path: EggPath & { variable: number }): Promise<void> {
  return withEggLock(panel, path, async (tx) => {
    const [removed] = await tx.db
      .delete(eggVariables)
      .where(and(eq(eggVariables.id, path.variable), eq(eggVariables.eggId, path.egg)))
      .returning()
    if (!removed) throw notFound()
    const properties = { variable: removed.envVariable }
    await recordAdminEvent(tx, 'admin:egg-variable.delete', toSubject(removed), properties)
  })
}

/**
 * Runs `work` with the egg locked, so that its variables change one after the other. The lock does not block
 * references to the egg, since servers that lock their own row read the egg afterwards.
 */
function withEggLock<T>(panel: Panel, path: EggPath, work: (tx: Tx) => Promise<T>): Promise<T> {
  const ofNest = and(eq(eggs.id, path.egg), eq(eggs.nestId, path.nest))
  return rejectDuplicates(uniqueConstraints, () =>
    inTransaction(panel, async (tx) => {
      const [egg] = await tx.db.select({ id: eggs.id }).from(eggs).where(ofNest).for('no key update')
      if (!egg) throw notFound()
      return work(tx)
    }),
  )
}

const renameServerValues = (tx: Tx, eggId: number, from: string, to: string) =>
  tx.db
    .update(servers)
    .set({
      variables: sql`(${servers.variables} - ${from}::text) || jsonb_build_object(${to}::text, ${servers.variables} -> ${from}::text)`,
      updatedAt: tx.now(),
    })
    .where(and(eq(servers.eggId, eggId), sql`jsonb_exists(${servers.variables}, ${from}::text)`))

/** Converts the fields that were sent into columns; null becomes the default of its column. */
const toColumns = (input: EggVariableChanges) =>
  omitUndefined({
    name: input.name,
    envVariable: input.env_variable,
    description: input.description === null ? '' : input.description,
    defaultValue: input.default_value === null ? '' : input.default_value,
    userViewable: input.user_viewable === null ? false : input.user_viewable,
    userEditable: input.user_editable === null ? false : input.user_editable,
    rules: input.rules === null ? '' : input.rules,
  })

const toSubject = ({ id }: EggVariable) => ({ type: 'egg_variable' as const, id })

const withWarnings = async (variable: EggVariable): Promise<VariableWithWarnings> => ({
  variable,
  warnings: await describeRuleProblems(variable.envVariable, variable.rules),
})
