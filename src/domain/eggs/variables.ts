import { and, eq, sql } from 'drizzle-orm'
import * as z from 'zod'
import { only } from '../../db/database.ts'
import { eggs, eggVariables, servers } from '../../db/schema.ts'
import type { EggVariable } from '../../db/tables/egg-variables.ts'
import { notFound } from '../../errors.ts'
import { inTransaction, type Panel } from '../../panel.ts'
import { boolean } from '../fields.ts'
import { refusingDuplicates } from '../validation.ts'
import { ruleProblems } from './rules.ts'
import { isReservedName, isVariableName } from './variable-names.ts'

/** Spec: Resources, egg variable. Texts are kept as they are; rules are joined by `|`. */
export const EggVariableInput = () =>
  z.object({
    name: z.string().trim().min(1, 'between').max(191, 'between'),
    description: z.string().max(10_000, 'max').nullish(),
    env_variable: z
      .string()
      .trim()
      .min(1, 'required')
      .refine(isVariableName, 'regex')
      .refine((name) => !isReservedName(name), 'not_in'),
    default_value: z.string().max(65_535, 'max').nullish(),
    user_viewable: boolean().nullish(),
    user_editable: boolean().nullish(),
    rules: z.string().max(10_000, 'max').nullish(),
  })
/** The same fields where only some are sent. */
export const EggVariableChanges = () => EggVariableInput().partial()
type EggVariableInput = z.output<ReturnType<typeof EggVariableInput>>
type EggVariableChanges = z.output<ReturnType<typeof EggVariableChanges>>

/** A stored variable, and which of its rules cannot be used: people cannot edit it until they can. */
export type JudgedVariable = { variable: EggVariable; warnings: string[] }

type EggPath = { nest: number; egg: number }

const duplicates = { egg_variables: 'env_variable' }

/** Adds a variable to an egg. Refuses with 404 an egg of another nest, with 422 a name that the egg has. */
export function addEggVariable(
  panel: Panel,
  path: EggPath,
  input: EggVariableInput,
): Promise<JudgedVariable> {
  return holdingEgg(panel, path, async (panel) => {
    const values = { ...columnsOf(input), eggId: path.egg, name: input.name, envVariable: input.env_variable }
    return judged(only(await panel.db.insert(eggVariables).values(values).returning()))
  })
}

/**
 * Changes the fields that were sent. With another `env_variable` the values of the egg's servers move to that
 * name; startup commands and files that mention the old one are left alone. Refuses with 404 a variable of
 * another egg, with 422 a name that the egg has.
 */
export function changeEggVariable(
  panel: Panel,
  path: EggPath & { variable: number },
  input: EggVariableChanges,
): Promise<JudgedVariable> {
  return holdingEgg(panel, path, async (panel) => {
    const ofEgg = and(eq(eggVariables.id, path.variable), eq(eggVariables.eggId, path.egg))
    const [before] = await panel.db.select().from(eggVariables).where(ofEgg)
    if (!before) throw notFound()
    const changes = { ...columnsOf(input), updatedAt: panel.now() }
    const after = only(await panel.db.update(eggVariables).set(changes).where(ofEgg).returning())
    if (after.envVariable !== before.envVariable)
      await renameValues(panel, path.egg, before.envVariable, after.envVariable)
    return judged(after)
  })
}

/**
 * Removes a variable. Servers keep their values of it, which nothing reads: adding the variable again
 * brings them back. Refuses with 404 one of another egg.
 */
export function removeEggVariable(panel: Panel, path: EggPath & { variable: number }): Promise<void> {
  return holdingEgg(panel, path, async (panel) => {
    const removed = await panel.db
      .delete(eggVariables)
      .where(and(eq(eggVariables.id, path.variable), eq(eggVariables.eggId, path.egg)))
      .returning({ id: eggVariables.id })
    if (removed.length === 0) throw notFound()
  })
}

/**
 * Variables of one egg change one after another. Keys of the egg stay free: servers that hold their own row
 * and then look at the egg must not wait for what waits for them.
 */
function holdingEgg<T>(panel: Panel, path: EggPath, work: (panel: Panel) => Promise<T>): Promise<T> {
  const ofNest = and(eq(eggs.id, path.egg), eq(eggs.nestId, path.nest))
  return refusingDuplicates(duplicates, () =>
    inTransaction(panel, async (panel) => {
      const [egg] = await panel.db.select({ id: eggs.id }).from(eggs).where(ofNest).for('no key update')
      if (!egg) throw notFound()
      return work(panel)
    }),
  )
}

const renameValues = (panel: Panel, eggId: number, from: string, to: string) =>
  panel.db
    .update(servers)
    .set({
      variables: sql`(${servers.variables} - ${from}::text) || jsonb_build_object(${to}::text, ${servers.variables} -> ${from}::text)`,
      updatedAt: panel.now(),
    })
    .where(and(eq(servers.eggId, eggId), sql`jsonb_exists(${servers.variables}, ${from}::text)`))

/** Columns for the fields that were sent. */
const columnsOf = (input: EggVariableChanges) => ({
  ...(input.name === undefined ? {} : { name: input.name }),
  ...(input.env_variable === undefined ? {} : { envVariable: input.env_variable }),
  ...(input.description === undefined ? {} : { description: input.description ?? '' }),
  ...(input.default_value === undefined ? {} : { defaultValue: input.default_value ?? '' }),
  ...(input.user_viewable === undefined ? {} : { userViewable: input.user_viewable ?? false }),
  ...(input.user_editable === undefined ? {} : { userEditable: input.user_editable ?? false }),
  ...(input.rules === undefined ? {} : { rules: input.rules ?? '' }),
})

const judged = (variable: EggVariable): JudgedVariable => ({
  variable,
  warnings: ruleProblems(variable.rules).map(
    ({ rule, parameters }) =>
      `${variable.envVariable} has a rule that cannot be used (${rule}): ${parameters.join(',')}`,
  ),
})
