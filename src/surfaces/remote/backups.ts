import { Hono } from 'hono'
import * as z from 'zod'
import { BackupReport, finishBackup } from '../../domain/backups/callbacks.ts'
import { finishRestoration, RestorationReport } from '../../domain/backups/restoration-callbacks.ts'
import { type BackupUpload, openUpload, UploadQuery } from '../../domain/backups/uploads.ts'
import { body, params, query, returns, summary } from '../../http/route.ts'
import { ownServers, type RemoteEnv } from './env.ts'

/** Bytes: room for the names of as many parts as an upload has. */
const reportLimit = 2 * 1024 * 1024

const BackupPath = () => z.object({ backup: z.guid() })

const Upload = () => z.strictObject({ parts: z.array(z.url()).min(1), part_size: z.int().min(1) })
const upload = ({ parts, partSize }: BackupUpload) => ({ parts, part_size: partSize })

/** Spec: Remote API, backups. */
export const backups = new Hono<RemoteEnv>()
  .get(
    '/:backup',
    summary('Open an upload for the archive of a backup'),
    ownServers,
    params(BackupPath),
    query(UploadQuery),
    returns(200, Upload),
    async (c) => {
      const { panel, node } = c.var
      const { size } = c.req.valid('query')
      return c.json(upload(await openUpload(panel, node, c.req.valid('param').backup, size)))
    },
  )

  .post(
    '/:backup',
    summary('Tell how a backup ended'),
    ownServers,
    params(BackupPath),
    body(BackupReport, reportLimit),
    returns(204),
    async (c) => {
      await finishBackup(c.var.panel, c.var.node, c.req.valid('param').backup, c.req.valid('json'))
      return c.body(null, 204)
    },
  )

  .post(
    '/:backup/restore',
    summary('Tell how a restoration ended'),
    ownServers,
    params(BackupPath),
    body(RestorationReport),
    returns(204),
    async (c) => {
      await finishRestoration(c.var.panel, c.var.node, c.req.valid('param').backup, c.req.valid('json'))
      return c.body(null, 204)
    },
  )
