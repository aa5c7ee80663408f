import { adminGet, adminGetVersion, type AdminQuery } from '../../api/admin.ts'
import { asRequestError } from '../../api/error.ts'
import { rowsOf } from '../../api/resources.ts'
import { can } from '../levels.ts'
import type { Item, PageOf, PanelActivity } from '../resources.ts'
import type { FormValues } from './resource-form.tsx'

/** The present values of a resource, by the names of a form's fields, and its version; null where it has none. */
export type Current = { values: FormValues; version: string | null }

/** Returns the function that fetches a resource as it is now. */
export const currentOf =
  <Row>(path: string, valuesOf: (row: Row) => FormValues, query: AdminQuery = {}) =>
  async (): Promise<Current> => {
    const { answer, version } = await adminGetVersion<Item<Row>>(path, query)
    return { values: valuesOf(answer.attributes), version }
  }

/** Thrown when another administrator has changed what a form would change. */
export class ChangedMeanwhile extends Error {
  readonly current: Current

  constructor(current: Current) {
    super('The resource has been changed meanwhile.')
    this.current = current
  }
}

/** Whether values of a form differ; those that `other` does not have are equal. */
export const differ = (one: FormValues, other: FormValues): boolean => changedNames(one, other).length > 0

/** Lists the fields with different values. */
export const changedNames = (one: FormValues, other: FormValues): string[] =>
  Object.keys(other).filter((name) => name in one && one[name] !== other[name])

const toCurrent = (found: Current | FormValues): Current =>
  typeof found.values === 'object' ? (found as Current) : { values: found as FormValues, version: null }

/** How often a save begins again because something changed that the form does not show. */
const maxTries = 3

/**
 * Saves unless others have changed one of the fields since `base` was loaded. The panel is told which version was looked
 * at, so that a change in between is refused.
 */
export async function saveUnlessChanged<Answer>(
  base: FormValues,
  fetchCurrent: () => Promise<Current | FormValues>,
  save: (version: string | null) => Promise<Answer>,
): Promise<Answer> {
  for (let attempt = 1; ; attempt += 1) {
    const current = toCurrent(await fetchCurrent())
    if (differ(base, current.values)) throw new ChangedMeanwhile(current)
    try {
      return await save(current.version)
    } catch (error) {
      if (asRequestError(error)?.status !== 412 || attempt === maxTries) throw error
    }
  }
}

/** What changed a resource last, as far as the caller may read it. */
export type LastChange = { by: string | null; at: string }

const searchedEntries = 50

/** Finds who changed a resource last. */
export async function fetchLastChange(
  subject: { type: string; id: number },
  signal: AbortSignal,
): Promise<LastChange | null> {
  if (!can('activity', 'read')) return null
  const query = { 'filter[event]': `admin:${subject.type.replaceAll('_', '-')}.`, per_page: searchedEntries }
  const entries = rowsOf(await adminGet<PageOf<PanelActivity>>('/activity', query, signal))
  const entry = entries.find(({ subjects }) =>
    subjects.some(({ type, id }) => type === subject.type && id === subject.id),
  )
  return entry ? { by: entry.actor, at: entry.timestamp } : null
}
