import { eq } from 'drizzle-orm'
import * as z from 'zod'
import { embedMany } from '../../db/embed.ts'
import { eggs, eggVariables, servers } from '../../db/schema.ts'
import type { EggVariable } from '../../db/tables/egg-variables.ts'
import type { Server } from '../../db/tables/servers.ts'
import { inTransaction, type Panel, type Tx } from '../../panel.ts'
import { boolean, present, rowId, text } from '../fields.ts'
import { invalidField } from '../validation.ts'
import { recordServerUpdate } from './audit.ts'
import { dockerImageField, EnvironmentInput, maxStartupLength } from './input.ts'
import { lockServer } from './lock.ts'
import { variableValues } from './variables.ts'
import { requireExpectedVersion, versionOf } from '../versions.ts'

/** The startup of a server. Spec: patchApplicationServersByServerStartup. */
export const StartupInput = () =>
  z.object({
    startup: text(maxStartupLength),
    environment: EnvironmentInput(),
    egg: rowId(),
    image: dockerImageField(),
    skip_scripts: present(boolean()),
  })
type StartupInput = z.output<ReturnType<typeof StartupInput>>

/**
 * Changes the startup and the egg of a server. A sent environment replaces all values; an empty one keeps them,
 * after a change of the egg those it has variables for. The daemon learns of it at the next start. Refuses with
 * 404, with 422 an unknown egg and values against its rules. Records `admin:server.startup`.
 * Spec: patchApplicationServersByServerStartup.
 */
export async function changeStartup(panel: Panel, id: number, input: StartupInput): Promise<void> {
  await inTransaction(panel, async (tx) => {
    const server = await lockServer(tx, id)
    requireExpectedVersion(tx, versionOf(server))
    const variables = await findEggVariables(tx, input.egg)
    const [after] = await tx.db
      .update(servers)
      .set({
        startup: input.startup,
        eggId: input.egg,
        image: input.image,
        skipScripts: input.skip_scripts,
        variables: await nextVariableValues(server, variables, input),
        updatedAt: tx.now(),
      })
      .where(eq(servers.id, id))
      .returning()
    if (after) await recordServerUpdate(tx, 'admin:server.startup', server, after)
  })
}

async function findEggVariables(tx: Tx, eggId: number): Promise<EggVariable[]> {
  const [egg] = await tx.db
    .select({ variables: embedMany(eggVariables, { where: (variable) => eq(variable.eggId, eggId) }) })
    .from(eggs)
    .where(eq(eggs.id, eggId))
    .for('key share')
  if (!egg) throw invalidField('egg', 'exists', 'The egg does not exist.')
  return egg.variables
}

async function nextVariableValues(
  server: Server,
  variables: EggVariable[],
  input: StartupInput,
): Promise<Record<string, string>> {
  if (Object.keys(input.environment).length > 0) return variableValues(variables, input.environment)
  if (input.egg === server.eggId) return server.variables
  const names = new Set(variables.map(({ envVariable }) => envVariable))
  return Object.fromEntries(Object.entries(server.variables).filter(([name]) => names.has(name)))
}
