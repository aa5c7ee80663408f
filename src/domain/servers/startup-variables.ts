import { eq, sql } from 'drizzle-orm'
import * as z from 'zod'
import { only } from '../../db/database.ts'
import { embedMany, embedOne } from '../../db/embed.ts'
import { allocations, eggs, eggVariables, servers } from '../../db/schema.ts'
import type { Allocation } from '../../db/tables/allocations.ts'
import type { EggVariable } from '../../db/tables/egg-variables.ts'
import type { Server } from '../../db/tables/servers.ts'
import { badRequest, invalid, notFound } from '../../errors.ts'
import { inTransaction, type Panel } from '../../panel.ts'
import { record } from '../activity.ts'
import type { ReachedServer } from '../credentials.ts'
import { ruleProblems, validateVariable } from '../eggs/rules.ts'
import { present, text } from '../fields.ts'
import { variableText } from './input.ts'
import { lockServer } from './lock.ts'

/** All that says how a server is started: every variable of its egg, also those which people may not view. */
export type ServerStartup = {
  server: Server
  variables: EggVariable[]
  /** The primary one. */
  allocation: Allocation
  /** Label → image, of the egg. */
  dockerImages: Record<string, string>
}

/** Numbers, true and false are taken as text, the last two as 1 and 0. Spec: Client API, startup. */
export const VariableInput = () => z.object({ key: text(191), value: present(variableText()) })
type VariableInput = z.output<ReturnType<typeof VariableInput>>

/** How a server is started, in one statement. Refuses with 404 when it was deleted meanwhile. Spec: Client API, startup. */
export async function describeStartup(
  panel: Panel,
  { server: { id } }: Pick<ReachedServer, 'server'>,
): Promise<ServerStartup> {
  const [found] = await panel.db
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
 * The variable has the value, which is empty for null; the daemon learns of it when the server starts. Records
 * `server:startup.edit` when it is another one than before.
 *
 * Refuses with 400 a variable which the caller may not view or edit, or whose rules cannot be used, then with
 * 422 on `value` what breaks the egg's rules, one entry for each. Spec: Client API, startup.
 */
export async function changeVariable(
  panel: Panel,
  reached: Pick<ReachedServer, 'server'>,
  { key, value }: VariableInput,
): Promise<{ startup: ServerStartup; variable: EggVariable }> {
  return inTransaction(panel, async (panel) => {
    const { id } = await lockServer(panel, reached.server.id)
    const startup = await describeStartup(panel, reached)
    const variable = editable(startup.variables, key)
    refuseBroken(variable, value)
    const before = storedValue(startup.server, key)
    const after = value ?? ''
    if (before === after) return { startup, variable }
    const server = await storeValue(panel, id, key, after)
    const properties = { variable: key, old: before, new: after }
    await record(panel, 'server:startup.edit', { serverId: id, properties })
    return { startup: { ...startup, server }, variable }
  })
}

function editable(variables: readonly EggVariable[], key: string): EggVariable {
  const variable = variables.find((each) => each.envVariable === key && each.userViewable)
  if (!variable) throw badRequest('The server has no such variable.')
  if (!variable.userEditable || ruleProblems(variable.rules).length > 0) {
    throw badRequest('This variable can only be read.')
  }
  return variable
}

function refuseBroken({ rules }: EggVariable, value: string | null): void {
  const failures = validateVariable(rules, value)
  if (failures.length === 0) return
  throw invalid(
    failures.map(({ rule }) => ({
      field: 'value',
      rule,
      detail: `The value does not satisfy the rule "${rule}" of this variable.`,
    })),
  )
}

/** Null when nobody gave it one yet. */
const storedValue = ({ variables }: Server, key: string): string | null =>
  Object.hasOwn(variables, key) ? (variables[key] ?? null) : null

const storeValue = async (panel: Panel, id: number, key: string, value: string): Promise<Server> =>
  only(
    await panel.db
      .update(servers)
      .set({
        variables: sql`jsonb_set(${servers.variables}, array[${key}::text], to_jsonb(${value}::text))`,
        updatedAt: panel.now(),
      })
      .where(eq(servers.id, id))
      .returning(),
  )
