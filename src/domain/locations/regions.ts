import { eq, inArray, type SQL, sql } from 'drizzle-orm'
import { locations, settings } from '../../db/schema.ts'
import type { Tx } from '../../panel.ts'
import { requireAccessLevel } from '../auth/access-levels.ts'
import { enqueueJob } from '../jobs/enqueue.ts'
import { invalidField } from '../validation.ts'

/** Region → origin that daemons there call. */
export type Regions = Readonly<Record<string, string>>

const settingKey = 'regions.endpoints'

/**
 * Selects the origin that daemons of a location call, in a statement with `locations`: that of its region, or
 * the panel's own when it has no known region.
 */
export const remoteColumn = (tx: Tx): SQL<string> =>
  sql<string>`coalesce((select ${settings.value} ->> ${locations.region} from ${settings} where ${settings.key} = ${settingKey}), ${tx.config.url})`

/**
 * Locks the regions against changes until the transaction ends and returns them; to be called before a location
 * is locked.
 */
export async function lockRegions(tx: Tx): Promise<Regions> {
  const [stored] = await tx.db
    .select({ value: settings.value })
    .from(settings)
    .where(eq(settings.key, settingKey))
    .for('share')
  return (stored?.value ?? {}) as Regions
}

/** Refuses with 422 a region that the settings do not have; it stays there until the transaction ends. */
export async function requireRegion(tx: Tx, name: string): Promise<void> {
  const regions = await lockRegions(tx)
  if (!Object.hasOwn(regions, name))
    throw invalidField('region', 'exists', `The region ${name} is not defined in the settings.`, {
      reason: 'region_unknown',
      values: { region: name },
    })
}

/**
 * Enqueues the configuration of the location's nodes, whose origin has changed; call it in the transaction of
 * the change.
 */
export const enqueueLocationConfiguration = (tx: Tx, id: number): Promise<void> =>
  enqueueJob(tx, 'configure-nodes', { locationIds: [id] })

/**
 * Enqueues the configuration of the nodes in regions whose origin changed; call it in the transaction that
 * changes the setting. Refuses with 403 a caller who may not write nodes, whose daemons send their secrets to
 * these origins; with 422 when a region is removed that locations use.
 */
export async function applyRegionChanges(tx: Tx, before: Regions, after: Regions): Promise<void> {
  const changedNames = Object.keys({ ...before, ...after }).filter((name) => before[name] !== after[name])
  if (changedNames.length === 0) return
  requireAccessLevel(tx, 'nodes', 'write')
  const affected = await tx.db
    .select({ id: locations.id, short: locations.short, region: locations.region })
    .from(locations)
    .where(inArray(locations.region, changedNames))
    .orderBy(locations.id)
  const orphaned = affected.filter(({ region }) => !Object.hasOwn(after, region ?? ''))
  if (orphaned.length > 0) {
    const names = orphaned.map(({ short, region }) => `${short} (${region})`).join(', ')
    throw invalidField(
      settingKey,
      'required',
      `These locations use regions that would be removed: ${names}.`,
      { reason: 'regions_in_use', values: { locations: names } },
    )
  }
  if (affected.length > 0)
    await enqueueJob(tx, 'configure-nodes', { locationIds: affected.map(({ id }) => id) })
}
