import { and, eq } from 'drizzle-orm'
import { only } from '../../db/database.ts'
import { eggs } from '../../db/schema.ts'
import type { Egg } from '../../db/tables/eggs.ts'
import { invalid, notFound } from '../../errors.ts'
import type { Panel } from '../../panel.ts'
import { authorOf, holdingNest } from '../nests.ts'
import { type EggChanges, eggColumnsOf, type EggInput } from './input.ts'
import { requireOneLevel } from './leaning.ts'

/** What every egg has of its own or from the egg named by `config_from`. */
const configuration = [
  { field: 'config_files', column: 'configFiles' },
  { field: 'config_startup', column: 'configStartup' },
  { field: 'config_logs', column: 'configLogs' },
  { field: 'config_stop', column: 'configStop' },
] as const

/**
 * Adds an egg without variables to the nest. Refuses with 404 when there is no such nest, with 422 an egg
 * without configuration of its own or from another, and sources that are none of the nest's.
 */
export function addEgg(panel: Panel, nestId: number, input: EggInput): Promise<Egg> {
  return holdingNest(panel, nestId, async (panel) => {
    const columns = eggColumnsOf(input)
    const egg = { id: null, nestId, configFrom: null, copyScriptFrom: null, ...columns }
    requireConfiguration(columns, ['config_from'])
    await requireOneLevel(panel, egg)
    return only(
      await panel.db
        .insert(eggs)
        .values({
          ...columns,
          nestId,
          name: input.name,
          author: input.author ?? authorOf(panel),
          dockerImages: input.docker_images,
          startup: input.startup,
        })
        .returning(),
    )
  })
}

/**
 * Changes the fields that were sent; servers learn what concerns them when their node asks next. Refuses
 * with 404 an egg of another nest, with 422 what `addEgg` refuses.
 */
export function changeEgg(panel: Panel, nestId: number, id: number, input: EggChanges): Promise<Egg> {
  return holdingNest(panel, nestId, async (panel) => {
    const ofNest = and(eq(eggs.id, id), eq(eggs.nestId, nestId))
    const [before] = await panel.db.select().from(eggs).where(ofNest)
    if (!before) throw notFound()
    const columns = eggColumnsOf(input)
    const after = { ...before, ...columns }
    requireConfiguration(after, Object.keys(input))
    if (columns.configFrom !== undefined || columns.copyScriptFrom !== undefined)
      await requireOneLevel(panel, after)
    return only(
      await panel.db
        .update(eggs)
        .set({ ...columns, updatedAt: panel.now() })
        .where(eq(eggs.id, id))
        .returning(),
    )
  })
}

/** Imported eggs may lack parts: only what was sent is judged. */
function requireConfiguration(egg: Partial<Omit<Egg, 'id'>>, sent: string[]): void {
  if ((egg.configFrom ?? null) !== null) return
  const missing = configuration.filter(
    ({ field, column }) =>
      (egg[column] ?? null) === null && (sent.includes(field) || sent.includes('config_from')),
  )
  if (missing.length === 0) return
  throw invalid(
    missing.map(({ field }) => ({
      field,
      rule: 'required_without',
      detail: `The ${field} field is required without config_from.`,
    })),
  )
}
