import { eq } from 'drizzle-orm'
import { eggs } from '../../db/schema.ts'
import type { Egg } from '../../db/tables/eggs.ts'
import { invalid } from '../../errors.ts'
import type { Panel } from '../../panel.ts'

/** An egg as it is going to be; a new one has no id yet. */
type Leaning = Pick<Egg, 'nestId' | 'configFrom' | 'copyScriptFrom'> & { id: number | null }
type Place = Pick<Egg, 'id' | 'configFrom' | 'copyScriptFrom'>

const leans = [
  { field: 'config_from', column: 'configFrom' },
  { field: 'copy_script_from', column: 'copyScriptFrom' },
] as const

/**
 * An egg may take its configuration and its script from another egg of its nest that takes nothing itself.
 * Refuses with 422 one of another nest, itself, and what would make two levels. Call it in `holdingNest`.
 */
export async function requireOneLevel(panel: Panel, egg: Leaning): Promise<void> {
  if (egg.configFrom === null && egg.copyScriptFrom === null) return
  const nest = await panel.db
    .select({ id: eggs.id, configFrom: eggs.configFrom, copyScriptFrom: eggs.copyScriptFrom })
    .from(eggs)
    .where(eq(eggs.nestId, egg.nestId))
  const failures = leans.flatMap(({ field, column }) => {
    const failure = failureOf(egg, column, nest)
    return failure ? [{ field, ...failure }] : []
  })
  if (failures.length > 0) throw invalid(failures)
}

function failureOf(
  egg: Leaning,
  column: 'configFrom' | 'copyScriptFrom',
  nest: Place[],
): { rule: string; detail: string } | null {
  const wanted = egg[column]
  if (wanted === null) return null
  const source = nest.find(({ id }) => id === wanted)
  if (!source) return { rule: 'exists', detail: 'There is no such egg in this nest.' }
  if (source.id === egg.id) return { rule: 'different', detail: 'An egg cannot take from itself.' }
  if (source[column] !== null) return { rule: 'in', detail: 'That egg takes from another one itself.' }
  if (egg.id !== null && nest.some((other) => other[column] === egg.id))
    return { rule: 'in', detail: 'Other eggs take from this one: it cannot take from another.' }
  return null
}
