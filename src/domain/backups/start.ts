import { eq } from 'drizzle-orm'
import * as z from 'zod'
import { only } from '../../db/database.ts'
import { backups } from '../../db/schema.ts'
import type { Backup } from '../../db/tables/backups.ts'
import type { Node } from '../../db/tables/nodes.ts'
import type { Server } from '../../db/tables/servers.ts'
import { unavailable } from '../../errors.ts'
import { inTransaction, type Panel } from '../../panel.ts'
import { record } from '../activity.ts'
import { refuseDaemonFailure } from '../daemon-errors.ts'
import { boolean, text } from '../fields.ts'
import { enqueue } from '../jobs.ts'
import { lockAvailable, lockServer } from '../servers/lock.ts'
import { settingsOf } from '../settings.ts'
import { type Disk, eraseArchive, storeMissing, throughStore } from './archives.ts'
import { occurrenceOf } from './backups.ts'
import { type BackupThrottle, hasRoom, oldestSpare, refuseThrottled, tooManyBackups } from './limits.ts'
import { dispatchBackup, expiryKey, startKey, undoStart } from './orders.ts'
import { beginRemoval, finishRemoval, keepBackup } from './remove.ts'

/** Seconds after which an order that nobody finished is given by its job: longer than the call itself. */
const startGrace = 60
/** Seconds after which a backup that nobody reported of has failed. */
const longestBackup = 6 * 3600
const longestName = 191

/** `ignored` are patterns of what is left out, one a line. Spec: Resources, backup. */
export const BackupInput = () =>
  z.object({
    name: text(longestName).nullish(),
    is_locked: boolean().nullish(),
    ignored: z.string().nullish(),
  })
type BackupInput = z.output<ReturnType<typeof BackupInput>>

type Wanted = { name: string | null; isLocked: boolean; ignored: string; stepId: number | null }
type Place = { server: Server; node: Node }
type Started = Place & { backup: Backup }

/**
 * The daemon has accepted to back the server up, which goes on by itself; a lock counts only where `mayLock`.
 * Records `server:backup.start`. When the process dies on the way, a job tells the daemon; what nobody reported
 * of after six hours has failed.
 *
 * Refuses with 409 a server whose state does not allow it, with 429 when too many began lately, with 400 at the
 * limit, with 503 when the object store does not answer; with the daemon's status, 502 or 504 when it does not
 * take the order: nothing is left then. Spec: Client API, backups. Wings: POST …/backup
 */
export async function startBackup(
  panel: Panel,
  { server }: { server: { id: number } },
  input: BackupInput,
  { mayLock }: { mayLock: boolean },
): Promise<Backup> {
  const wanted = {
    name: input.name ?? null,
    isLocked: mayLock && input.is_locked === true,
    ignored: input.ignored ?? '',
    stepId: null,
  }
  const { disk, throttle } = await readMeans(panel)
  const started = await inTransaction(panel, async (inside) => {
    const place = await lockAvailable(inside, server.id)
    await refuseThrottled(inside, place.server, throttle)
    if (!(await hasRoom(inside, place.server))) throw tooManyBackups()
    return takePlace(inside, place, wanted, disk)
  })
  return dispatchBackup(panel, started).catch(refuseDaemonFailure)
}

/**
 * The same for a step of a schedule, at most once for each: at the limit the oldest good backup that nobody
 * locked is removed before, with `server:backup.delete`. Refuses as `startBackup` does, with 400 also when there
 * is none to remove; throws what the daemon fails with: then nothing is left, and the old one is kept unless it
 * was removed already.
 */
export async function startScheduledBackup(
  panel: Panel,
  { server }: Place,
  { stepId, ignored }: { stepId: number; ignored: string },
): Promise<void> {
  const { disk, throttle } = await readMeans(panel)
  const wanted = { name: null, isLocked: false, ignored, stepId }
  const taken = await inTransaction(panel, async (inside) => {
    const place = await lockAvailable(inside, server.id)
    if (await isMade(inside, stepId)) return null
    await refuseThrottled(inside, place.server, throttle)
    const spare = await makeRoom(inside, place.server)
    return { spare, started: await takePlace(inside, place, wanted, disk) }
  })
  if (!taken) return
  const { spare, started } = taken
  if (spare) await removeSpare(panel, started, spare)
  await dispatchBackup(panel, started)
}

/** The one that goes, if one has to: it counts no more. Its job removes it if this process does not come to that. */
async function makeRoom(panel: Panel, server: Server): Promise<Backup | null> {
  if (await hasRoom(panel, server)) return null
  const spare = await oldestSpare(panel, server)
  const removed = spare && (await beginRemoval(panel, spare))
  if (!(await hasRoom(panel, server))) throw tooManyBackups()
  return removed
}

/** Either the old one is gone, or it is kept and the new one is gone. */
async function removeSpare(panel: Panel, started: Started, spare: Backup): Promise<void> {
  try {
    await eraseArchive(panel, { ...started, backup: spare })
  } catch (error) {
    await inTransaction(panel, async (inside) => {
      await lockServer(inside, started.server.id)
      await undoStart(inside, started, { mayHaveBegun: false })
      await keepBackup(inside, spare)
    })
    throw error
  }
  await finishRemoval(panel, spare)
}

async function isMade(panel: Panel, stepId: number): Promise<boolean> {
  const made = await panel.db.select({ id: backups.id }).from(backups).where(eq(backups.stepId, stepId))
  return made.length > 0
}

type Means = { disk: Disk; throttle: BackupThrottle }

/** Where the archive will be, once that place has answered, and how often backups may begin. */
async function readMeans(panel: Panel): Promise<Means> {
  const settings = await settingsOf(panel, [
    'backups.default_disk',
    'backups.throttle_limit',
    'backups.throttle_period',
  ])
  const disk = settings['backups.default_disk']
  if (disk === 's3') {
    if (!panel.objects.multipart) throw unavailable(storeMissing)
    await throughStore(() => panel.objects.ping())
  }
  const throttle = {
    most: settings['backups.throttle_limit'],
    seconds: settings['backups.throttle_period'],
  }
  return { disk, throttle }
}

/** The row, its event and its jobs. The server is locked, so that nobody else takes a place meanwhile. */
async function takePlace(panel: Panel, place: Place, wanted: Wanted, disk: Disk): Promise<Started> {
  const now = panel.now()
  const backup = only(
    await panel.db
      .insert(backups)
      .values({
        serverId: place.server.id,
        name: wanted.name ?? nameAt(now),
        ignoredFiles: linesOf(wanted.ignored),
        disk,
        isLocked: wanted.isLocked,
        isScheduled: wanted.stepId !== null,
        stepId: wanted.stepId,
        createdAt: now,
        updatedAt: now,
      })
      .returning(),
  )
  const { properties, ...occurrence } = occurrenceOf(backup)
  await record(panel, 'server:backup.start', {
    ...occurrence,
    properties: { ...properties, locked: backup.isLocked },
  })
  await enqueueWatch(panel, backup, now)
  return { ...place, backup }
}

/** What takes over when this process dies, and what ends a backup that nobody reports of. */
async function enqueueWatch(panel: Panel, backup: Backup, now: Date): Promise<void> {
  const payload = { backupId: backup.id }
  const after = (seconds: number) => new Date(now.getTime() + seconds * 1000)
  await enqueue(panel, 'start-backup', payload, { key: startKey(backup), runAt: after(startGrace) })
  await enqueue(panel, 'expire-backup', payload, { key: expiryKey(backup), runAt: after(longestBackup) })
}

const nameAt = (now: Date) => `Backup ${now.toISOString().slice(0, 19).replace('T', ' ')} UTC`

const linesOf = (patterns: string) =>
  patterns
    .split('\n')
    .map((line) => line.replace(/\r$/, ''))
    .filter((line) => line.trim() !== '')
