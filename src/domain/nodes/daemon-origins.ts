import { eq, inArray, sql } from 'drizzle-orm'
import { single } from '../../db/database.ts'
import { oneRow } from '../../db/data-column.ts'
import { jsonColumn } from '../../db/json.ts'
import { nodes, servers } from '../../db/schema.ts'
import type { Node } from '../../db/tables/nodes.ts'
import type { Panel } from '../../panel.ts'
import { type ShownAnnouncement, shownAnnouncementsColumn } from '../announcements/shown.ts'
import { type Appearance, appearanceKeys, appearanceOf } from '../appearance/appearance.ts'
import { requireCaller } from '../auth/caller.ts'
import { accessibleServerIds } from '../servers/access.ts'
import { settingsColumn } from '../settings/settings.ts'
import { daemonUrl } from './daemon-address.ts'

/** What the page of a signed-in user is rendered with; `daemonOrigins` is null when there are more than asked for. */
export type SignedInPage = {
  panelName: string
  appearance: Appearance
  announcements: ShownAnnouncement[]
  daemonOrigins: string[] | null
}

/**
 * Reads the name and the appearance of the panel, the announcements for the caller, and the origins of the daemons of all servers that the caller can
 * access, of every daemon for administrators who may read nodes, at most `maxOrigins`. One statement.
 */
export async function readSignedInPage(
  panel: Panel,
  { readsNodes, maxOrigins }: { readsNodes: boolean; maxOrigins: number },
): Promise<SignedInPage> {
  const user = requireCaller(panel)
  const { db } = panel
  const accessibleNodeIds = db
    .select({ id: servers.nodeId })
    .from(servers)
    .where(inArray(servers.id, accessibleServerIds(user.id)))
  const daemons = db
    .selectDistinct({ scheme: nodes.scheme, fqdn: nodes.fqdn, daemonListen: nodes.daemonListen })
    .from(nodes)
    .where(user.rootAdmin || readsNodes ? undefined : inArray(nodes.id, accessibleNodeIds))
    .limit(maxOrigins + 1)
  const rows = sql`select coalesce(json_agg(daemons), '[]'::json) from (${daemons}) daemons`
  const { settings, announcements, daemonUrls } = single(
    await db
      .select({
        settings: settingsColumn(['panel.name', ...appearanceKeys]),
        announcements: shownAnnouncementsColumn(panel),
        daemonUrls: jsonColumn(rows, toDaemonUrls),
      })
      .from(oneRow),
  )
  return {
    panelName: settings['panel.name'] ?? panel.config.name,
    appearance: appearanceOf(settings),
    announcements,
    daemonOrigins: daemonUrls.length > maxOrigins ? null : daemonUrls,
  }
}

type DaemonRow = { scheme: Node['scheme']; fqdn: string; daemon_listen: number }

const toDaemonUrls = (rows: unknown) =>
  (rows as DaemonRow[]).map(({ daemon_listen: daemonListen, ...node }) =>
    daemonUrl({ ...node, daemonListen }),
  )

/** Finds the origin of the daemon of one node; null without such a node. */
export async function findDaemonOrigin({ db }: Panel, id: number): Promise<string | null> {
  const [found] = await db
    .select({ scheme: nodes.scheme, fqdn: nodes.fqdn, daemonListen: nodes.daemonListen })
    .from(nodes)
    .where(eq(nodes.id, id))
  return found ? daemonUrl(found) : null
}
