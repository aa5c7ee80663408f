import { sql } from 'drizzle-orm'
import { signDaemonToken } from '../../adapters/daemon-token.ts'
import { rowsOf } from '../../db/database.ts'
import { activity, activitySubjects, backups } from '../../db/schema.ts'
import type { Backup } from '../../db/tables/backups.ts'
import type { Node } from '../../db/tables/nodes.ts'
import type { Server } from '../../db/tables/servers.ts'
import { badRequest, notFound, unauthenticated } from '../../errors.ts'
import { inTransaction, type Panel } from '../../panel.ts'
import { entryOf } from '../activity.ts'
import { daemonSecret, daemonUrl } from '../daemon-address.ts'
import { websocketTokenName } from '../websocket-tokens.ts'
import { archiveKey, type Disk, diskOf, refuseLostObject, throughStore } from './archives.ts'

/** Seconds for which an address is good: at the node, and in the object store. */
const lifetimes = { wings: 900, s3: 300 }

type Target = { server: Pick<Server, 'id' | 'uuid'>; node: Node }

/**
 * Where a browser fetches the archive: from the node, once and within 15 minutes, or from the object store within
 * five. Records `server:backup.download`. Refuses with 404; with 400 a backup that is not a good one, is on an
 * unknown disk, or which the object store has lost; with 503 while that store is away. Spec: Client API, backups. Wings: GET /download/backup
 */
export async function downloadAddress(panel: Panel, target: Target, uuid: string): Promise<string> {
  const disk = await recordDownload(panel, target.server, uuid, 'wings')
  if (disk === 's3') {
    const key = archiveKey({ server: target.server, backup: { uuid } })
    await refuseLostObject(panel, key)
    await recordDownload(panel, target.server, uuid, 's3')
    return throughStore(() => panel.objects.signedUrl(key, lifetimes.s3))
  }
  const url = new URL('/download/backup', daemonUrl(target.node))
  url.searchParams.set('token', await downloadToken(panel, target, { uuid }))
  return url.href
}

/** Lets its holder fetch the archive from the node, once. Refuses with 401 callers that are no person. */
export async function downloadToken(
  panel: Panel,
  { server, node }: Target,
  backup: Pick<Backup, 'uuid'>,
): Promise<string> {
  const { actor } = panel
  if (actor.kind !== 'user') throw unauthenticated()
  return signDaemonToken({
    scope: 'backup-download',
    secret: await daemonSecret(panel, node),
    issuer: panel.config.url,
    audience: daemonUrl(node),
    jti: websocketTokenName(actor.user, server),
    issuedAt: panel.now(),
    lifetimeSeconds: lifetimes.wings,
    claims: { backup_uuid: backup.uuid, server_uuid: server.uuid, user_uuid: actor.user.uuid },
  })
}

/**
 * The disk of the backup. Where that is `disk` it is written down that the backup is fetched, in the same
 * statement: who reads pays no second one.
 */
function recordDownload(panel: Panel, server: Target['server'], uuid: string, disk: Disk): Promise<Disk> {
  return inTransaction(panel, async ({ db }) => {
    const entry = entryOf(panel, 'server:backup.download', { serverId: server.id })
    const result = await db.execute(sql`
      with found as (
        select id, name, disk, is_successful from ${backups}
        where server_id = ${server.id} and uuid = ${uuid}::uuid and deleting_at is null
      ), entry as (
        insert into ${activity} (timestamp, event, ip, source, actor_id, api_key_id, server_id, properties)
        select ${panel.now().toISOString()}::timestamptz, ${entry.event}::text, ${entry.ip}::text,
          ${entry.source}::text, ${entry.actorId}::integer, ${entry.apiKeyId}::integer, ${server.id}::integer,
          jsonb_build_object('name', name)
        from found where disk = ${disk} returning id
      ), about as (
        insert into ${activitySubjects} (activity_id, subject_type, subject_id)
        select entry.id, 'backup', found.id from entry cross join found
      )
      select disk, is_successful from found`)
    const [found] = rowsOf<{ disk: string; is_successful: boolean }>(result)
    // Thrown inside, so that the entry is taken back.
    if (!found) throw notFound()
    if (!found.is_successful) throw badRequest('The backup is not a complete one.')
    return diskOf(found)
  })
}
