import { eq } from 'drizzle-orm'
import { eggs } from '../../db/schema.ts'
import type { Egg } from '../../db/tables/eggs.ts'
import { type Failure, invalid } from '../../errors.ts'
import type { Tx } from '../../panel.ts'

/** What an egg inherits from the egg in `configFrom`. */
export type InheritedConfiguration = Pick<
  Egg,
  'features' | 'fileDenylist' | 'configFiles' | 'configStartup' | 'configLogs' | 'configStop'
>

/**
 * Fills in inherited values, one level deep. Configuration and features come from `configFrom` where the egg's
 * own are null; the parent's file denylist always replaces the own one. An egg without a script inherits script,
 * entry point and container together from `copyScriptFrom`. Spec: docs/eggs.md#inheritance.
 */
export function resolveInheritedEgg(egg: Egg, configFrom: Egg | null, copyScriptFrom: Egg | null): Egg {
  const { scriptInstall, scriptEntry, scriptContainer } = egg.scriptInstall ? egg : (copyScriptFrom ?? egg)
  return { ...inheritConfiguration(egg, configFrom), scriptInstall, scriptEntry, scriptContainer }
}

/** Fills in the inherited configuration alone. */
export function inheritConfiguration<Configured extends InheritedConfiguration>(
  egg: Configured,
  configFrom: InheritedConfiguration | null,
): Configured {
  return {
    ...egg,
    features: egg.features ?? configFrom?.features ?? null,
    fileDenylist: (configFrom ?? egg).fileDenylist,
    configFiles: egg.configFiles ?? configFrom?.configFiles ?? null,
    configStartup: egg.configStartup ?? configFrom?.configStartup ?? null,
    configLogs: egg.configLogs ?? configFrom?.configLogs ?? null,
    configStop: egg.configStop ?? configFrom?.configStop ?? null,
  }
}

/** An egg as it is about to be stored; a new one has no id yet. */
type InheritingEgg = Pick<Egg, 'nestId' | 'configFrom' | 'copyScriptFrom'> & { id: number | null }
type EggSources = Pick<Egg, 'id' | 'configFrom' | 'copyScriptFrom'>

const inheritanceFields = [
  { field: 'config_from', column: 'configFrom' },
  { field: 'copy_script_from', column: 'copyScriptFrom' },
] as const

/**
 * Refuses with 422 an egg that inherits from itself, from an egg of another nest, or over two levels. Call it in
 * `withNestLock`.
 */
export async function requireSingleLevelInheritance(tx: Tx, egg: InheritingEgg): Promise<void> {
  if (egg.configFrom === null && egg.copyScriptFrom === null) return
  const nestEggs = await tx.db
    .select({ id: eggs.id, configFrom: eggs.configFrom, copyScriptFrom: eggs.copyScriptFrom })
    .from(eggs)
    .where(eq(eggs.nestId, egg.nestId))
  const failures = inheritanceFields.flatMap(({ field, column }) => {
    const failure = findInheritanceFailure(egg, column, nestEggs)
    return failure ? [{ field, ...failure }] : []
  })
  if (failures.length > 0) throw invalid(failures)
}

function findInheritanceFailure(
  egg: InheritingEgg,
  column: 'configFrom' | 'copyScriptFrom',
  nestEggs: EggSources[],
): Omit<Failure, 'field'> | null {
  const sourceId = egg[column]
  if (sourceId === null) return null
  const source = nestEggs.find(({ id }) => id === sourceId)
  if (!source)
    return { rule: 'exists', detail: 'The egg does not exist in this nest.', reason: 'egg_not_in_nest' }
  if (source.id === egg.id)
    return { rule: 'different', detail: 'An egg cannot inherit from itself.', reason: 'egg_inherits_itself' }
  if (source[column] !== null)
    return { rule: 'in', detail: 'That egg inherits from another egg itself.', reason: 'egg_parent_inherits' }
  if (egg.id !== null && nestEggs.some((other) => other[column] === egg.id))
    return {
      rule: 'in',
      detail: 'Other eggs inherit from this egg, so it cannot inherit itself.',
      reason: 'egg_has_heirs',
    }
  return null
}
