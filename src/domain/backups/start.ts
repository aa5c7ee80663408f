import { eq } from 'drizzle-orm'
import * as z from 'zod'
import { single } from '../../db/database.ts'
import { backups } from '../../db/schema.ts'
import type { Backup } from '../../db/tables/backups.ts'
import type { Server } from '../../db/tables/servers.ts'
import { unavailable } from '../../errors.ts'
import { inTransaction, type Panel, type Tx } from '../../panel.ts'
import { recordEvent } from '../activity/record.ts'
import { boolean, text } from '../fields.ts'
import { enqueueJob } from '../jobs/enqueue.ts'
import { toDaemonApiError } from '../nodes/daemon-errors.ts'
import type { ServerOnNode } from '../servers/access.ts'
import { lockAvailableServer, lockServer } from '../servers/lock.ts'
import { getSettings } from '../settings/settings.ts'
import { type BackupDisk, deleteArchive, storeMissingMessage, callObjectStore } from './archives.ts'
import { toBackupActivity } from './backups.ts'
import { dispatchBackup, expiryJobKey, startJobKey, rollBackStart } from './dispatch.ts'
import {
  type BackupThrottle,
  hasFreeBackupSlot,
  findOldestRemovableBackup,
  refuseThrottled,
  tooManyBackups,
} from './limits.ts'
import { maySchedulersDelete } from './rotation.ts'
import { beginRemoval, finishRemoval, cancelRemoval } from './remove.ts'

/** Seconds after which a job takes over an unfinished dispatch: longer than the call itself. */
const dispatchJobDelaySeconds = 60
/** Seconds after which a backup without a report has failed. Spec: docs/backups.md#deadlines. */
const maxBackupSeconds = 6 * 3600
const maxNameLength = 191

/** `ignored` are patterns of files to leave out, one per line. Spec: postClientServersByServerBackups. */
export const BackupInput = () =>
  z.object({
    name: text(maxNameLength).nullish(),
    is_locked: boolean().nullish(),
    ignored: z.string().nullish(),
  })
type BackupInput = z.output<ReturnType<typeof BackupInput>>

type BackupRequest = { name: string | null; isLocked: boolean; ignored: string; stepId: number | null }
type StartedBackup = ServerOnNode & { backup: Backup }

/**
 * Starts a backup; the daemon accepts it and continues by itself. It is locked only where `mayLock`. Records
 * `server:backup.start`. When the process ends on the way, a job continues; without a report it fails after six
 * hours.
 *
 * Refuses with 409 a server whose state does not allow it, with 429 when too many started lately, with 400 at the
 * limit, with 503 when the object store fails; with the daemon's status, 502 or 504 when it does not accept the
 * backup, which is deleted then. Spec: docs/backups.md#creating. Wings: POST …/backup.
 */
export async function startBackup(
  panel: Panel,
  { server }: { server: { id: number } },
  input: BackupInput,
  { mayLock }: { mayLock: boolean },
): Promise<Backup> {
  const request = {
    name: input.name ?? null,
    isLocked: mayLock && input.is_locked === true,
    ignored: input.ignored ?? '',
    stepId: null,
  }
  const { disk, throttle } = await readBackupSettings(panel)
  const started = await inTransaction(panel, async (tx) => {
    const target = await lockAvailableServer(tx, server.id)
    await refuseThrottled(tx, target.server, throttle)
    if (!(await hasFreeBackupSlot(tx, target.server))) throw tooManyBackups()
    return insertBackup(tx, target, request, disk)
  })
  return dispatchBackup(panel, started).catch((error: unknown) => {
    throw toDaemonApiError(error)
  })
}

/**
 * Starts the backup of a schedule step, at most once per step. At the limit the oldest successful, unlocked backup
 * that a schedule made is removed first, or that anyone made where `maySchedulersDelete`, with `server:backup.delete`. Refuses as `startBackup` does, with 400 also when no
 * backup can be removed. Throws the failure of the daemon: the new backup is deleted then, and the old one is
 * kept unless it is already removed.
 */
export async function startScheduledBackup(
  panel: Panel,
  { server }: ServerOnNode,
  { stepId, ignored }: { stepId: number; ignored: string },
): Promise<void> {
  const { disk, throttle } = await readBackupSettings(panel)
  const request = { name: null, isLocked: false, ignored, stepId }
  const result = await inTransaction(panel, async (tx) => {
    const target = await lockAvailableServer(tx, server.id)
    if (await hasBackupForStep(tx, stepId)) return null
    await refuseThrottled(tx, target.server, throttle)
    const evicted = await evictIfFull(tx, target.server, stepId)
    return { evicted, started: await insertBackup(tx, target, request, disk) }
  })
  if (!result) return
  const { evicted, started } = result
  if (evicted) await removeEvicted(panel, started, evicted)
  await dispatchBackup(panel, started)
}

/**
 * Begins to remove the oldest removable backup when the server is at its limit. Its job continues if this process
 * ends.
 */
async function evictIfFull(tx: Tx, server: Server, stepId: number): Promise<Backup | null> {
  if (await hasFreeBackupSlot(tx, server)) return null
  const onlyScheduled = !(await maySchedulersDelete(tx, server, stepId))
  const evicted = await findOldestRemovableBackup(tx, server, { onlyScheduled })
  const removed = evicted && (await beginRemoval(tx, evicted))
  if (!(await hasFreeBackupSlot(tx, server))) throw tooManyBackups()
  return removed
}

/** Removes the old backup; when that fails, keeps it and deletes the new one. */
async function removeEvicted(panel: Panel, started: StartedBackup, evicted: Backup): Promise<void> {
  try {
    await deleteArchive(panel, { ...started, backup: evicted })
  } catch (error) {
    await inTransaction(panel, async (tx) => {
      await lockServer(tx, started.server.id)
      await rollBackStart(tx, started, { mayHaveStarted: false })
      await cancelRemoval(tx, evicted)
    })
    throw error
  }
  await finishRemoval(panel, evicted)
}

async function hasBackupForStep(tx: Tx, stepId: number): Promise<boolean> {
  const existing = await tx.db.select({ id: backups.id }).from(backups).where(eq(backups.stepId, stepId))
  return existing.length > 0
}

type BackupSettings = { disk: BackupDisk; throttle: BackupThrottle }

/** Reads the disk and the throttle. Refuses with 503 when the object store of that disk fails. */
async function readBackupSettings(panel: Panel): Promise<BackupSettings> {
  const settings = await getSettings(panel, [
    'backups.default_disk',
    'backups.throttle_limit',
    'backups.throttle_period',
  ])
  const disk = settings['backups.default_disk']
  if (disk === 's3') {
    if (!panel.objects.multipart) throw unavailable('object_store_missing', storeMissingMessage)
    await callObjectStore(() => panel.objects.ping())
  }
  const throttle = {
    limit: settings['backups.throttle_limit'],
    periodSeconds: settings['backups.throttle_period'],
  }
  return { disk, throttle }
}

/** Inserts row, event and jobs of a backup. The server is locked, so that no other request takes its slot. */
async function insertBackup(
  tx: Tx,
  target: ServerOnNode,
  request: BackupRequest,
  disk: BackupDisk,
): Promise<StartedBackup> {
  const now = tx.now()
  const backup = single(
    await tx.db
      .insert(backups)
      .values({
        serverId: target.server.id,
        name: request.name ?? defaultBackupName(now),
        ignoredFiles: splitLines(request.ignored),
        disk,
        isLocked: request.isLocked,
        isScheduled: request.stepId !== null,
        stepId: request.stepId,
        createdAt: now,
        updatedAt: now,
      })
      .returning(),
  )
  const { properties, ...activity } = toBackupActivity(backup)
  await recordEvent(tx, 'server:backup.start', {
    ...activity,
    properties: { ...properties, locked: backup.isLocked },
  })
  await enqueueFollowUpJobs(tx, backup, now)
  return { ...target, backup }
}

/** Enqueues the job that continues when this process ends, and the one that fails the backup at its deadline. */
async function enqueueFollowUpJobs(tx: Tx, backup: Backup, now: Date): Promise<void> {
  const payload = { backupId: backup.id }
  const after = (seconds: number) => new Date(now.getTime() + seconds * 1000)
  await enqueueJob(tx, 'start-backup', payload, {
    key: startJobKey(backup),
    runAt: after(dispatchJobDelaySeconds),
  })
  await enqueueJob(tx, 'expire-backup', payload, {
    key: expiryJobKey(backup),
    runAt: after(maxBackupSeconds),
  })
}

const defaultBackupName = (now: Date) => `Backup ${now.toISOString().slice(0, 19).replace('T', ' ')} UTC`

const splitLines = (patterns: string) =>
  patterns
    .split('\n')
    .map((line) => line.replace(/\r$/, ''))
    .filter((line) => line.trim() !== '')
