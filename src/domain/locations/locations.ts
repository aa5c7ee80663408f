import { eq } from 'drizzle-orm'
import * as z from 'zod'
import { isForeignKeyViolation, single } from '../../db/database.ts'
import type { RowPage } from '../../db/pagination.ts'
import { findRow, listRows } from '../../db/related-rows.ts'
import { locations } from '../../db/schema.ts'
import type { Location } from '../../db/tables/locations.ts'
import { displayError, notFound } from '../../errors.ts'
import { inTransaction, type Panel } from '../../panel.ts'
import { recordAdminEvent, recordAdminUpdate } from '../activity/record.ts'
import { text, textBetween } from '../fields.ts'
import { combineFilters, containsFilter, type ListRequest, orderByColumns, shapeName } from '../filters.ts'
import { rejectDuplicates } from '../validation.ts'
import { enqueueLocationConfiguration, requireRegion } from './regions.ts'
import { requireExpectedVersion, versionOf } from '../versions.ts'

/** A location to create. Spec: postApplicationLocations. */
export const LocationInput = () =>
  z.object({
    short: textBetween(1, 60),
    long: textBetween(1, 191).nullish(),
    region: text(32)
      .nullish()
      .describe('A region of the setting regions.endpoints; daemons of the location call its origin.'),
  })
/** The fields of `LocationInput`, at least one of them. Spec: patchApplicationLocationsByLocation. */
export const LocationChanges = () =>
  LocationInput()
    .partial()
    .refine((changes) => locationFields.some((field) => changes[field] !== undefined), {
      path: ['short'],
      error: 'required',
    })
    .meta({ allOf: [{ anyOf: locationFields.map((field) => ({ required: [field] })) }] })
const locationFields = ['short', 'long', 'region'] as const
type LocationInput = z.output<ReturnType<typeof LocationInput>>

const uniqueConstraints = { locations_short: 'short' }

/** Lists one page of locations. Filters `short`, `long`; sort `id`. Spec: getApplicationLocations. */
export function listLocations(
  panel: Panel,
  request: ListRequest,
  include: string[],
): Promise<RowPage<Location>> {
  return listRows(panel.db, 'location', {
    ...request,
    name: shapeName(request),
    include,
    search: combineFilters(
      { short: containsFilter(locations.short), long: containsFilter(locations.long) },
      request.filters,
    ),
    orderBy: orderByColumns({ id: locations.id }, request.sorts),
  })
}

/** Finds a location with its included relations. Refuses with 404. */
export async function findLocation(panel: Panel, id: number, include: string[] = []): Promise<Location> {
  const location = await findRow<Location>(panel.db, 'location', eq(locations.id, id), include)
  if (!location) throw notFound()
  return location
}

/** Creates a location. Refuses with 422 a `short` that is taken, ignoring case, and an unknown region. Records `admin:location.create`. */
export async function addLocation(
  panel: Panel,
  { short, long = null, region = null }: LocationInput,
): Promise<Location> {
  return rejectDuplicates(uniqueConstraints, () =>
    inTransaction(panel, async (tx) => {
      if (region !== null) await requireRegion(tx, region)
      const location = single(await tx.db.insert(locations).values({ short, long, region }).returning())
      await recordAdminEvent(tx, 'admin:location.create', toSubject(location), { short })
      return location
    }),
  )
}

/**
 * Changes the fields that were sent; after a change of the region jobs configure the daemons there. Refuses
 * with 404, with 422 a `short` that is taken and an unknown region. Records `admin:location.update`.
 */
export async function changeLocation(
  panel: Panel,
  id: number,
  { short, long, region }: Partial<LocationInput>,
): Promise<Location> {
  return rejectDuplicates(uniqueConstraints, () =>
    inTransaction(panel, async (tx) => {
      if (region) await requireRegion(tx, region)
      const [before] = await tx.db.select().from(locations).where(eq(locations.id, id)).for('no key update')
      if (!before) throw notFound()
      requireExpectedVersion(tx, versionOf(before))
      const changes = { short, long, region, updatedAt: tx.now() }
      const location = single(
        await tx.db.update(locations).set(changes).where(eq(locations.id, id)).returning(),
      )
      await recordAdminUpdate(tx, 'admin:location.update', toSubject(location), {
        short: location.short,
        before,
        after: location,
      })
      if (location.region !== before.region) await enqueueLocationConfiguration(tx, id)
      return location
    }),
  )
}

/** Deletes a location. Refuses with 404, with 400 while it has nodes. Records `admin:location.delete`. */
export async function removeLocation(panel: Panel, id: number): Promise<void> {
  try {
    await inTransaction(panel, async (tx) => {
      const [removed] = await tx.db.delete(locations).where(eq(locations.id, id)).returning()
      if (!removed) throw notFound()
      await recordAdminEvent(tx, 'admin:location.delete', toSubject(removed), { short: removed.short })
    })
  } catch (error) {
    if (!isForeignKeyViolation(error)) throw error
    throw displayError('location_in_use', 'A location with nodes cannot be removed.', {
      code: 'HasActiveNodesException',
    })
  }
}

const toSubject = ({ id }: Location) => ({ type: 'location' as const, id })
