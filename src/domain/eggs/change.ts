import { and, eq } from 'drizzle-orm'
import { single } from '../../db/database.ts'
import { eggs } from '../../db/schema.ts'
import type { Egg } from '../../db/tables/eggs.ts'
import { invalid, notFound } from '../../errors.ts'
import type { Panel } from '../../panel.ts'
import { recordAdminEvent, recordAdminUpdate } from '../activity/record.ts'
import { requireSingleLevelInheritance } from './inheritance.ts'
import { type EggChanges, toEggColumns, type EggInput } from './input.ts'
import { defaultAuthor, withNestLock } from './nests.ts'
import { requireExpectedVersion, versionOf } from '../versions.ts'

/** The fields that an egg needs of its own unless it inherits them by `config_from`. */
const configurationFields = [
  { field: 'config_files', column: 'configFiles' },
  { field: 'config_startup', column: 'configStartup' },
  { field: 'config_logs', column: 'configLogs' },
  { field: 'config_stop', column: 'configStop' },
] as const

/**
 * Adds an egg without variables to the nest. Refuses with 404 when the nest does not exist, with 422 an egg
 * without own or inherited configuration, and invalid inheritance. Records `admin:egg.create`. Spec:
 * postApplicationNestsByNestEggs.
 */
export function addEgg(panel: Panel, nestId: number, input: EggInput): Promise<Egg> {
  return withNestLock(panel, nestId, async (tx) => {
    const columns = toEggColumns(input)
    const placed = { id: null, nestId, configFrom: null, copyScriptFrom: null, ...columns }
    requireConfiguration(columns, ['config_from'])
    await requireSingleLevelInheritance(tx, placed)
    const egg = single(
      await tx.db
        .insert(eggs)
        .values({
          ...columns,
          nestId,
          name: input.name,
          author: input.author ?? defaultAuthor(tx),
          dockerImages: input.docker_images,
          startup: input.startup,
        })
        .returning(),
    )
    await recordAdminEvent(tx, 'admin:egg.create', toSubject(egg), { name: egg.name })
    return egg
  })
}

/**
 * Changes the fields that were sent; nodes get them with the next configuration they fetch. Refuses with 404 an
 * egg of another nest, with 422 as `addEgg` does. Records `admin:egg.update`. Spec:
 * patchApplicationNestsByNestEggsByEgg.
 */
export function changeEgg(panel: Panel, nestId: number, id: number, input: EggChanges): Promise<Egg> {
  return withNestLock(panel, nestId, async (tx) => {
    const ofNest = and(eq(eggs.id, id), eq(eggs.nestId, nestId))
    const [before] = await tx.db.select().from(eggs).where(ofNest)
    if (!before) throw notFound()
    requireExpectedVersion(tx, versionOf(before))
    const columns = toEggColumns(input)
    const planned = { ...before, ...columns }
    requireConfiguration(planned, Object.keys(input))
    if (columns.configFrom !== undefined || columns.copyScriptFrom !== undefined)
      await requireSingleLevelInheritance(tx, planned)
    const after = single(
      await tx.db
        .update(eggs)
        .set({ ...columns, updatedAt: tx.now() })
        .where(eq(eggs.id, id))
        .returning(),
    )
    await recordAdminUpdate(tx, 'admin:egg.update', toSubject(after), { name: after.name, before, after })
    return after
  })
}

const toSubject = ({ id }: Egg) => ({ type: 'egg' as const, id })

/** Checks only the fields that were sent, since imported eggs may lack some. */
function requireConfiguration(egg: Partial<Omit<Egg, 'id'>>, sentFields: string[]): void {
  if ((egg.configFrom ?? null) !== null) return
  const missing = configurationFields.filter(
    ({ field, column }) =>
      (egg[column] ?? null) === null && (sentFields.includes(field) || sentFields.includes('config_from')),
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
