import { eq, inArray, type SQL, sql } from 'drizzle-orm'
import { locations, settings } from '../db/schema.ts'
import type { Panel } from '../panel.ts'
import { enqueue } from './jobs.ts'
import { invalidField } from './validation.ts'

/** Region → origin which daemons there call. */
export type Regions = Readonly<Record<string, string>>

const settingKey = 'regions.endpoints'

/**
 * Origin which daemons of a location call, beside `locations` in a statement: its region's, or the panel's own where
 * it names none that is known.
 */
export const remoteColumn = (panel: Panel): SQL<string> =>
  sql<string>`coalesce((select ${settings.value} ->> ${locations.region} from ${settings} where ${settings.key} = ${settingKey}), ${panel.config.url})`

/** The regions, which nobody changes until the transaction ends. Whoever locks a location, too, does so afterwards. */
export async function holdRegions(panel: Panel): Promise<Regions> {
  const [stored] = await panel.db
    .select({ value: settings.value })
    .from(settings)
    .where(eq(settings.key, settingKey))
    .for('share')
  return (stored?.value ?? {}) as Regions
}

/** Refuses with 422 a region that is not among the settings, which it is until the transaction ends. */
export async function requireRegion(panel: Panel, name: string): Promise<void> {
  const regions = await holdRegions(panel)
  if (!Object.hasOwn(regions, name))
    throw invalidField('region', 'exists', `The region ${name} is not among the settings.`)
}

/** Nodes of the location learn by a job which origin their daemons call now; call it in the transaction of the change. */
export const tellLocation = (panel: Panel, id: number): Promise<void> =>
  enqueue(panel, 'configure-nodes', { locationIds: [id] })

/**
 * Nodes of regions whose origin is another one now learn of it by a job; call it in the transaction that changes the
 * setting. Refuses with 422 when a region goes that locations name.
 */
export async function followRegions(panel: Panel, before: Regions, after: Regions): Promise<void> {
  const moved = Object.keys({ ...before, ...after }).filter((name) => before[name] !== after[name])
  if (moved.length === 0) return
  const concerned = await panel.db
    .select({ id: locations.id, short: locations.short, region: locations.region })
    .from(locations)
    .where(inArray(locations.region, moved))
    .orderBy(locations.id)
  const lost = concerned.filter(({ region }) => !Object.hasOwn(after, region ?? ''))
  if (lost.length > 0) {
    const names = lost.map(({ short, region }) => `${short} (${region})`).join(', ')
    throw invalidField(settingKey, 'required', `These locations are in regions that would be gone: ${names}.`)
  }
  if (concerned.length > 0)
    await enqueue(panel, 'configure-nodes', { locationIds: concerned.map(({ id }) => id) })
}
