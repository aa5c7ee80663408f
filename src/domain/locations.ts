import { eq } from 'drizzle-orm'
import * as z from 'zod'
import { foreignKeyViolation, only } from '../db/database.ts'
import { paginate, type RowPage } from '../db/pagination.ts'
import { fieldsOf, findRow } from '../db/relations.ts'
import { locations } from '../db/schema.ts'
import type { Location } from '../db/tables/locations.ts'
import { displayError, notFound } from '../errors.ts'
import { inTransaction, type Panel } from '../panel.ts'
import { text, textBetween } from './fields.ts'
import { allFilters, containing, type ListRequest, orderOf } from './filters.ts'
import { requireRegion, tellLocation } from './regions.ts'
import { refusingDuplicates } from './validation.ts'

/** Spec: Resources, location. */
export const LocationInput = () =>
  z.object({
    short: textBetween(1, 60),
    long: textBetween(1, 191).nullish(),
    region: text(32)
      .nullish()
      .describe('One of the setting regions.endpoints; its origin is what daemons call.'),
  })
/** The same fields where only some are sent. */
export const LocationChanges = () => LocationInput().partial()
type LocationInput = z.output<ReturnType<typeof LocationInput>>

const duplicates = { locations_short: 'short' }

/** One page of locations. Filters `short`, `long`; sort `id`. Spec: Application API, locations. */
export function listLocations(
  panel: Panel,
  request: ListRequest,
  include: string[],
): Promise<RowPage<Location>> {
  return paginate(panel.db, {
    ...request,
    table: locations,
    fields: fieldsOf('location', locations, include),
    where: allFilters(
      { short: containing(locations.short), long: containing(locations.long) },
      request.filters,
    ),
    orderBy: orderOf({ id: locations.id }, request.sorts),
  })
}

/** The location with its included relations. Refuses with 404 when there is none. */
export async function findLocation(panel: Panel, id: number, include: string[] = []): Promise<Location> {
  const location = await findRow(panel.db, 'location', locations, eq(locations.id, id), include)
  if (!location) throw notFound()
  return location
}

/** Adds a location. Refuses with 422 a `short` that is taken, whatever its case, and a region that is not known. */
export async function addLocation(
  panel: Panel,
  { short, long = null, region = null }: LocationInput,
): Promise<Location> {
  return refusingDuplicates(duplicates, () =>
    inTransaction(panel, async (panel) => {
      if (region !== null) await requireRegion(panel, region)
      return only(await panel.db.insert(locations).values({ short, long, region }).returning())
    }),
  )
}

/**
 * Changes the fields that were sent. Of another region the daemons there learn by a job. Refuses with 404, and with
 * 422 a `short` that is taken and a region that is not known.
 */
export async function changeLocation(
  panel: Panel,
  id: number,
  { short, long, region }: Partial<LocationInput>,
): Promise<Location> {
  return refusingDuplicates(duplicates, () =>
    inTransaction(panel, async (panel) => {
      if (region) await requireRegion(panel, region)
      const [before] = await panel.db
        .select()
        .from(locations)
        .where(eq(locations.id, id))
        .for('no key update')
      if (!before) throw notFound()
      const changes = { short, long, region, updatedAt: panel.now() }
      const location = only(
        await panel.db.update(locations).set(changes).where(eq(locations.id, id)).returning(),
      )
      if (location.region !== before.region) await tellLocation(panel, id)
      return location
    }),
  )
}

/** Removes a location. Refuses with 400 while nodes stand there, with 404 when there is none. */
export async function removeLocation(panel: Panel, id: number): Promise<void> {
  try {
    const removed = await panel.db
      .delete(locations)
      .where(eq(locations.id, id))
      .returning({ id: locations.id })
    if (removed.length === 0) throw notFound()
  } catch (error) {
    if (!foreignKeyViolation(error)) throw error
    throw displayError('A location with nodes cannot be removed.', 'HasActiveNodesException')
  }
}
