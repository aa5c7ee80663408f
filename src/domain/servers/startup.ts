import { eq } from 'drizzle-orm'
import * as z from 'zod'
import { embedMany } from '../../db/embed.ts'
import { eggs, eggVariables, servers } from '../../db/schema.ts'
import type { EggVariable } from '../../db/tables/egg-variables.ts'
import type { Server } from '../../db/tables/servers.ts'
import { inTransaction, type Panel } from '../../panel.ts'
import { boolean, rowId, text } from '../fields.ts'
import { invalidField } from '../validation.ts'
import { dockerImage, EnvironmentInput, longestStartup } from './input.ts'
import { lockServer } from './lock.ts'
import { variableValues } from './variables.ts'

/** True or false that must be sent. */
const presentBoolean = () =>
  z
    .unknown()
    .refine((value) => value !== undefined, { error: 'present', abort: true })
    .pipe(boolean() as unknown as z.ZodType<boolean, {} | null>)

/** Spec: Application API, servers/{server}/startup. */
export const StartupInput = () =>
  z.object({
    startup: text(longestStartup),
    environment: EnvironmentInput(),
    egg: rowId(),
    image: dockerImage(),
    skip_scripts: presentBoolean(),
  })
type StartupInput = z.output<ReturnType<typeof StartupInput>>

/**
 * Changes how a server is started, and its egg. A sent environment replaces all values; an empty one leaves
 * them, of another egg those whose names it has. The daemon learns of it at the next start.
 * Refuses with 404, with 422 an unknown egg and values against the rules of the egg.
 * Spec: Application API, servers/{server}/startup.
 */
export async function changeStartup(panel: Panel, id: number, input: StartupInput): Promise<void> {
  await inTransaction(panel, async (inside) => {
    const server = await lockServer(inside, id)
    const variables = await variablesOf(inside, input.egg)
    await inside.db
      .update(servers)
      .set({
        startup: input.startup,
        eggId: input.egg,
        image: input.image,
        skipScripts: input.skip_scripts,
        variables: valuesAfter(server, variables, input),
        updatedAt: inside.now(),
      })
      .where(eq(servers.id, id))
  })
}

async function variablesOf(panel: Panel, eggId: number): Promise<EggVariable[]> {
  const [egg] = await panel.db
    .select({ variables: embedMany(eggVariables, { where: (variable) => eq(variable.eggId, eggId) }) })
    .from(eggs)
    .where(eq(eggs.id, eggId))
    .for('key share')
  if (!egg) throw invalidField('egg', 'exists', 'The egg does not exist.')
  return egg.variables
}

function valuesAfter(server: Server, variables: EggVariable[], input: StartupInput): Record<string, string> {
  if (Object.keys(input.environment).length > 0) return variableValues(variables, input.environment)
  if (input.egg === server.eggId) return server.variables
  const names = new Set(variables.map(({ envVariable }) => envVariable))
  return Object.fromEntries(Object.entries(server.variables).filter(([name]) => names.has(name)))
}
