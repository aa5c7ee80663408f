import { Hono } from 'hono'
import * as z from 'zod'
import { findBackup, listBackups, toggleLock } from '../../domain/backups/backups.ts'
import { downloadAddress } from '../../domain/backups/download.ts'
import { removeBackup } from '../../domain/backups/remove.ts'
import { restoreBackup, RestorationInput, toldOtherwise } from '../../domain/backups/restore.ts'
import { BackupInput, startBackup } from '../../domain/backups/start.ts'
import { isGranted } from '../../domain/permissions.ts'
import { listing } from '../../http/listing.ts'
import { publicUrl } from '../../http/public-url.ts'
import { body, params, returns, summary } from '../../http/route.ts'
import { throttle } from '../../http/throttle.ts'
import { available, availableDespite, permission, perServer, type ServerEnv } from './env.ts'
import { BackupList, BackupResource, presentBackups } from './resources/backup.ts'
import { SignedUrl } from './resources/signed-url.ts'

const BackupParams = () => z.object({ backup: z.guid() })

const restorable = availableDespite({ everyone: toldOtherwise, administrators: toldOtherwise })

/** Spec: Client API, backups. */
export const backups = new Hono<ServerEnv>()
  .get(
    '/',
    summary('List the backups'),
    available,
    permission('backup.read'),
    listing({ perPage: 20, mostPerPage: 50 }),
    returns(200, BackupList),
    async (c) => {
      const page = await listBackups(c.var.panel, c.var.server, c.req.valid('query'))
      return c.json(presentBackups(page, publicUrl(c)))
    },
  )

  .post(
    '/',
    summary('Start a backup'),
    available,
    permission('backup.create'),
    body(BackupInput),
    returns(200, BackupResource.One),
    async (c) => {
      const mayLock = isGranted(c.var.permissions, 'backup.delete')
      const backup = await startBackup(c.var.panel, c.var.reached, c.req.valid('json'), { mayLock })
      return c.json(BackupResource.one(backup))
    },
  )

  .get(
    '/:backup',
    summary('Show a backup'),
    available,
    permission('backup.read'),
    params(BackupParams),
    returns(200, BackupResource.One),
    async (c) =>
      c.json(BackupResource.one(await findBackup(c.var.panel, c.var.server, c.req.valid('param').backup))),
  )

  .get(
    '/:backup/download',
    summary('Get the address of an archive'),
    available,
    permission('backup.download'),
    params(BackupParams),
    returns(200, SignedUrl.One),
    async (c) =>
      c.json(SignedUrl.one(await downloadAddress(c.var.panel, c.var.reached, c.req.valid('param').backup))),
  )

  .post(
    '/:backup/lock',
    summary('Lock or unlock a backup'),
    available,
    permission('backup.delete'),
    params(BackupParams),
    returns(200, BackupResource.One),
    async (c) =>
      c.json(BackupResource.one(await toggleLock(c.var.panel, c.var.server, c.req.valid('param').backup))),
  )

  .post(
    '/:backup/restore',
    summary('Restore a server from a backup'),
    restorable,
    permission('backup.restore'),
    // What can name no backup is not counted.
    params(BackupParams),
    throttle({ name: 'backup-restore', limit: 3, seconds: 900, key: perServer }),
    body(RestorationInput),
    returns(204),
    async (c) => {
      const { backup } = c.req.valid('param')
      await restoreBackup(c.var.panel, c.var.reached, backup, c.req.valid('json'))
      return c.body(null, 204)
    },
  )

  .delete(
    '/:backup',
    summary('Remove a backup'),
    available,
    permission('backup.delete'),
    params(BackupParams),
    returns(204),
    async (c) => {
      await removeBackup(c.var.panel, c.var.reached, c.req.valid('param').backup)
      return c.body(null, 204)
    },
  )
