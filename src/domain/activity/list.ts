import { eq, sql } from 'drizzle-orm'
import { embedOne } from '../../db/embed.ts'
import type { RowPage } from '../../db/pagination.ts'
import { activity, users } from '../../db/schema.ts'
import type { Activity } from '../../db/tables/activity.ts'
import type { User } from '../../db/tables/users.ts'
import type { Panel } from '../../panel.ts'
import { requireCaller } from '../auth/caller.ts'
import type { ListRequest } from '../filters.ts'
import type { ServerAccess } from '../servers/access.ts'
import { type GrantedPermissions, isGranted } from '../permissions.ts'
import { filterConditions } from './conditions.ts'
import { type EntrySelection, findPage, hiddenAdministrators } from './list-query.ts'
import { showsProperties } from './visibility.ts'

/** An entry with what the caller may see of it. */
export type ActivityEntry = {
  entry: Activity
  /** Null when there is none or the account is gone; absent unless it was requested. */
  actor?: User | null
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

/**
 * Lists the activity of the caller's account, newest first, in one statement. Addresses are visible for the
 * caller's own entries, and all of them for administrators. Spec: getClientAccountActivity.
 */
export const listAccountActivity = (
  panel: Panel,
  request: ListRequest,
  withActor: boolean,
): Promise<ActivityEntryPage> =>
  listActivity(panel, request, {
    scope: sql`user_id = ${requireCaller(panel).id}`,
    hiddenActors: null,
    withActor,
    permissions: ['*'],
  })

/**
 * Lists the activity of the server, newest first, in one statement; the settings can hide administrators
 * who are neither owner nor subuser. Addresses are visible as in `listAccountActivity`, and properties of others'
 * actions with the permission to see the same elsewhere. Spec: getClientServersByServerActivity.
 */
export const listServerActivity = (
  panel: Panel,
  { server, permissions }: Pick<ServerAccess, 'server' | 'permissions'>,
  request: ListRequest,
  withActor: boolean,
): Promise<ActivityEntryPage> =>
  listActivity(panel, request, {
    scope: sql`server_id = ${server.id}`,
    hiddenActors: hiddenAdministrators(server),
    withActor,
    permissions,
  })

async function listActivity(
  panel: Panel,
  request: ListRequest,
  {
    permissions,
    withActor,
    ...scope
  }: Pick<EntrySelection, 'scope' | 'hiddenActors'> & {
    permissions: GrantedPermissions
    withActor: boolean
  },
): Promise<ActivityEntryPage> {
  const caller = requireCaller(panel)
  const actor = embedOne(users, { where: (user) => eq(user.id, activity.actorId) })
  const page = await findPage(
    panel.db,
    request,
    { ...scope, ...filterConditions(panel, request.filters, caller) },
    withActor ? { actor } : {},
  )
  const rows = page.rows.map((found) => {
    const isOwn = found.entry.actorId === caller.id
    return {
      ...found,
      isOwn,
      isAddressVisible: isOwn || caller.rootAdmin,
      arePropertiesVisible: isOwn || showsProperties(permissions, found.entry.event),
      isEmailVisible: isOwn || isGranted(permissions, 'user.read'),
      panelUrl: panel.config.url,
    }
  })
  return { ...page, rows }
}
