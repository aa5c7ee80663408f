import { eq, sql } from 'drizzle-orm'
import * as z from 'zod'
import { single } from '../../db/database.ts'
import { embedMany, embedOne } from '../../db/embed.ts'
import { allocations, eggs, eggVariables, servers } from '../../db/schema.ts'
import type { Allocation } from '../../db/tables/allocations.ts'
import type { EggVariable } from '../../db/tables/egg-variables.ts'
import type { Server } from '../../db/tables/servers.ts'
import { badRequest, invalid, notFound } from '../../errors.ts'
import { inTransaction, type Panel, type Tx } from '../../panel.ts'
import { recordEvent } from '../activity/record.ts'
import { ruleProblems, validateVariable } from '../eggs/rules.ts'
import { presentNullable, text } from '../fields.ts'
import type { ServerAccess } from './access.ts'
import { variableValueField } from './input.ts'
import { lockServer } from './lock.ts'

/** The startup of a server with every variable of its egg, also those that users may not view. */
export type ServerStartup = {
  server: Server
  variables: EggVariable[]
  /** The primary one. */
  allocation: Allocation
  /** Label → image, of the egg. */
  dockerImages: Record<string, string>
}

/** Numbers are accepted as text, true and false as 1 and 0. Spec: docs/servers.md#variables. */
export const VariableInput = () => z.object({ key: text(191), value: presentNullable(variableValueField()) })
type VariableInput = z.output<ReturnType<typeof VariableInput>>

/**
 * Describes the startup of a server in one statement. Refuses with 404 when it was deleted meanwhile.
 * Spec: docs/servers.md#variables.
 */
export async function describeStartup(
  tx: Tx,
  { server: { id } }: Pick<ServerAccess, 'server'>,
): Promise<ServerStartup> {
  const [found] = await tx.db
    .select({
      server: servers,
      variables: embedMany(eggVariables, { where: (each) => eq(each.eggId, servers.eggId) }),
      allocation: embedOne(allocations, { where: (each) => eq(each.id, servers.allocationId) }),
      dockerImages: eggs.dockerImages,
    })
    .from(servers)
    .innerJoin(eggs, eq(eggs.id, servers.eggId))
    .where(eq(servers.id, id))
  if (!found?.allocation) throw notFound()
  return { ...found, allocation: found.allocation }
}

/**
 * Changes the value of a variable, to the empty one for null; the daemon learns of it when the server starts.
 * Records `server:startup.edit` when it differs.
 *
 * Refuses with 400 a variable that the caller may not view or edit, or whose rules cannot be used; with 422 on
 * `value` a value that breaks the egg's rules, one entry per rule. Spec: docs/servers.md#variables.
 */
export async function changeVariable(
  panel: Panel,
  access: Pick<ServerAccess, 'server'>,
  { key, value }: VariableInput,
): Promise<{ startup: ServerStartup; variable: EggVariable }> {
  return inTransaction(panel, async (tx) => {
    const { id } = await lockServer(tx, access.server.id)
    const startup = await describeStartup(tx, access)
    const variable = await requireEditable(startup.variables, key)
    await requireValidValue(variable, value)
    const before = storedValue(startup.server, key)
    const after = value ?? ''
    if (before === after) return { startup, variable }
    const server = await storeValue(tx, id, key, after)
    const properties = { variable: key, old: before, new: after }
    await recordEvent(tx, 'server:startup.edit', { serverId: id, properties })
    return { startup: { ...startup, server }, variable }
  })
}

async function requireEditable(variables: readonly EggVariable[], key: string): Promise<EggVariable> {
  const variable = variables.find((each) => each.envVariable === key && each.userViewable)
  if (!variable) throw badRequest('variable_unknown', 'The server has no such variable.')
  if (!variable.userEditable || (await ruleProblems(variable.rules)).length > 0) {
    throw badRequest('variable_read_only', 'This variable is read-only.')
  }
  return variable
}

async function requireValidValue({ rules }: EggVariable, value: string | null): Promise<void> {
  const failures = await validateVariable(rules, value)
  if (failures.length === 0) return
  throw invalid(
    failures.map(({ rule }) => ({
      field: 'value',
      rule,
      detail: `The value does not satisfy the rule "${rule}" of this variable.`,
      reason: 'variable_rule_broken',
      values: { rule },
    })),
  )
}

/** Returns the value of its own that a server has for a variable; null without one. */
const storedValue = ({ variables }: Server, key: string): string | null =>
  Object.hasOwn(variables, key) ? (variables[key] ?? null) : null

const storeValue = async (tx: Tx, id: number, key: string, value: string): Promise<Server> =>
  single(
    await tx.db
      .update(servers)
      .set({
        variables: sql`jsonb_set(${servers.variables}, array[${key}::text], to_jsonb(${value}::text))`,
        updatedAt: tx.now(),
      })
      .where(eq(servers.id, id))
      .returning(),
  )
