import { Hono } from 'hono'
import * as z from 'zod'
import { findBackup, listBackups, toggleBackupLock } from '../../domain/backups/backups.ts'
import { BackupNotesInput, changeBackupNotes } from '../../domain/backups/notes.ts'
import { createBackupDownloadUrl } from '../../domain/backups/download.ts'
import { removeBackup } from '../../domain/backups/remove.ts'
import { RestorationInput, restoreBackup, toleratedConflicts } from '../../domain/backups/restore.ts'
import { BackupInput, startBackup } from '../../domain/backups/start.ts'
import { isGranted } from '../../domain/permissions.ts'
import { listing } from '../../http/listing.ts'
import { publicUrl } from '../../http/public-url.ts'
import { body, params, returns, summary } from '../../http/route.ts'
import { throttle } from '../../http/throttle.ts'
import { available, availableDuring, permission, perServer, type ServerEnv } from './middleware.ts'
import { BackupList, BackupWithMeta, presentBackup, presentBackups } from './resources/backup.ts'
import { SignedUrl } from './resources/signed-url.ts'

const BackupParams = () => z.object({ backup: z.guid() })

const restorable = availableDuring({ everyone: toleratedConflicts, administrators: toleratedConflicts })

/** Spec: docs/backups.md#backups. */
export const backups = new Hono<ServerEnv>()
  .get(
    '/',
    summary('List the backups of a server'),
    available,
    permission('backup.read'),
    listing({ perPage: 20, maxPerPage: 50 }),
    returns(200, BackupList),
    async (c) => {
      const page = await listBackups(c.var.panel, c.var.access.server, c.req.valid('query'))
      return c.json(presentBackups(page, publicUrl(c)))
    },
  )

  .post(
    '/',
    summary('Create a backup'),
    available,
    permission('backup.create'),
    body(BackupInput),
    returns(200, BackupWithMeta),
    async (c) => {
      const mayLock = isGranted(c.var.access.permissions, 'backup.delete')
      const backup = await startBackup(c.var.panel, c.var.access, c.req.valid('json'), { mayLock })
      return c.json(presentBackup(backup))
    },
  )

  .get(
    '/:backup',
    summary('Show a backup'),
    available,
    permission('backup.read'),
    params(BackupParams),
    returns(200, BackupWithMeta),
    async (c) =>
      c.json(presentBackup(await findBackup(c.var.panel, c.var.access.server, c.req.valid('param').backup))),
  )

  .patch(
    '/:backup',
    summary('Update the notes about a backup'),
    available,
    permission('backup.create'),
    params(BackupParams),
    body(BackupNotesInput),
    returns(200, BackupWithMeta),
    async (c) => {
      const { backup } = c.req.valid('param')
      return c.json(
        presentBackup(await changeBackupNotes(c.var.panel, c.var.access.server, backup, c.req.valid('json'))),
      )
    },
  )

  .get(
    '/:backup/download',
    summary('Get a download URL for a backup'),
    available,
    permission('backup.download'),
    params(BackupParams),
    returns(200, SignedUrl.One),
    async (c) =>
      c.json(
        SignedUrl.one(await createBackupDownloadUrl(c.var.panel, c.var.access, c.req.valid('param').backup)),
      ),
  )

  .post(
    '/:backup/lock',
    summary('Lock or unlock a backup'),
    available,
    permission('backup.delete'),
    params(BackupParams),
    returns(200, BackupWithMeta),
    async (c) =>
      c.json(
        presentBackup(await toggleBackupLock(c.var.panel, c.var.access.server, c.req.valid('param').backup)),
      ),
  )

  .post(
    '/:backup/restore',
    summary('Restore a server from a backup'),
    restorable,
    permission('backup.restore'),
    // The throttle does not count requests that cannot name a backup.
    params(BackupParams),
    throttle({ name: 'backup-restore', limit: 3, seconds: 900, key: perServer }),
    body(RestorationInput),
    returns(204),
    async (c) => {
      const { backup } = c.req.valid('param')
      await restoreBackup(c.var.panel, c.var.access, backup, c.req.valid('json'))
      return c.body(null, 204)
    },
  )

  .delete(
    '/:backup',
    summary('Delete a backup'),
    available,
    permission('backup.delete'),
    params(BackupParams),
    returns(204),
    async (c) => {
      await removeBackup(c.var.panel, c.var.access, c.req.valid('param').backup)
      return c.body(null, 204)
    },
  )
