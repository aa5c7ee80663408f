import { eq, sql } from 'drizzle-orm'
import type { DataColumn } from '../../db/data-column.ts'
import { embedOne } from '../../db/embed.ts'
import type { RowPage } from '../../db/pagination.ts'
import { activity, servers, users } from '../../db/schema.ts'
import type { Activity } from '../../db/tables/activity.ts'
import type { User } from '../../db/tables/users.ts'
import type { Panel } from '../../panel.ts'
import { requireCaller } from '../auth/caller.ts'
import type { ListRequest } from '../filters.ts'
import { type GrantedPermissions, isGranted } from '../permissions.ts'
import { filterConditions } from './conditions.ts'
import {
  entriesColumn,
  type EntryColumns,
  type FoundEntries,
  hiddenAdministrators,
  toEntryPage,
} from './list-query.ts'
import { showsProperties } from './visibility.ts'

/** Columns of an entry that feeds show. */
const entryColumns = [
  'id',
  'timestamp',
  'event',
  'ip',
  'actorId',
  'apiKeyId',
  'description',
  'properties',
] as const satisfies (keyof Activity)[]
type ShownEntry = Pick<Activity, (typeof entryColumns)[number]>

/** An entry with what the caller may see of it. */
export type ActivityEntry = {
  entry: ShownEntry
  /** Null when there is none or the account is gone; absent unless it was requested. */
  actor?: User | null
  /** User name of the user for whom an administrator acted; absent like the actor. */
  actedFor?: string | null
  /** Whether the caller is the actor. */
  isOwn: boolean
  /** Whether the caller may see the address. */
  isAddressVisible: boolean
  /** Whether the caller may see what the event was about. */
  arePropertiesVisible: boolean
  /** Whether the caller may see the e-mail address of the actor. */
  isEmailVisible: boolean
  panelUrl: string
}

/** A page of entries with the names of all events in the log. */
export type ActivityEntryPage = RowPage<ActivityEntry> & { events: string[] }

const columnsOf = (withActor: boolean) => (): EntryColumns => ({
  names: entryColumns,
  further: withActor
    ? {
        actor: embedOne(users, { where: (user) => eq(user.id, activity.actorId) }),
        actedFor: sql`(select ${users.username} from ${users} where ${users.id} = ${activity.actedForId})`,
      }
    : {},
})
type FoundFeed = FoundEntries<ShownEntry & { actor?: User | null; actedFor?: string | null }>

const nameOf = (name: string, withActor: boolean) => (withActor ? `${name}_with_actors` : name)

/** Selects the activity of the caller's account (`users`), newest first. Spec: getClientAccountActivity. */
export const accountActivityColumn = (
  panel: Panel,
  request: ListRequest,
  withActor: boolean,
): DataColumn<FoundFeed> =>
  entriesColumn(
    nameOf('account_activity', withActor),
    request,
    {
      scope: { column: sql`user_id`, value: sql`${users.id}` },
      hiddenActors: null,
      ...filterConditions(panel, request.filters, isOwnOrOfAdministrator),
    },
    columnsOf(withActor),
  )

/** Built once: most requests find the statement that was made of it. */
const ofServer = {
  scope: { column: sql`server_id`, value: sql`${servers.id}` },
  hiddenActors: hiddenAdministrators(),
}

/**
 * Selects the activity of a server (`servers`) for the caller (`users`), newest first; the settings can hide
 * administrators who are neither owner nor subuser. Spec: getClientServersByServerActivity.
 */
export const serverActivityColumn = (
  panel: Panel,
  request: ListRequest,
  withActor: boolean,
): DataColumn<FoundFeed> =>
  entriesColumn(
    nameOf('server_activity', withActor),
    request,
    {
      ...ofServer,
      ...filterConditions(panel, request.filters, isOwnOrOfAdministrator),
    },
    columnsOf(withActor),
  )

const isOwnOrOfAdministrator = sql`(${users.rootAdmin} or actor_id = ${users.id})`

/**
 * Returns the entries that a column found, as the caller may see them: addresses of their own entries, and all of them
 * for administrators; properties of others' actions with the permission to see the same elsewhere.
 */
export function toActivityFeed(
  panel: Panel,
  found: FoundFeed,
  request: ListRequest,
  permissions: GrantedPermissions = ['*'],
): ActivityEntryPage {
  const caller = requireCaller(panel)
  const page = toEntryPage(found, request)
  const rows = page.rows.map((entry) => {
    const { actor, actedFor } = entry
    const isOwn = entry.actorId === caller.id
    return {
      entry,
      ...(actor === undefined ? {} : { actor }),
      ...(actedFor === undefined ? {} : { actedFor }),
      isOwn,
      isAddressVisible: isOwn || caller.rootAdmin,
      arePropertiesVisible: isOwn || showsProperties(permissions, entry.event),
      isEmailVisible: isOwn || isGranted(permissions, 'user.read'),
      panelUrl: panel.config.url,
    }
  })
  return { ...page, rows }
}
