import { Hono } from 'hono'
import * as z from 'zod'
import { applyBackupReport, BackupReport } from '../../domain/backups/completion.ts'
import { applyRestorationReport, RestorationReport } from '../../domain/backups/restoration-completion.ts'
import { type BackupUpload, startUpload, UploadQuery } from '../../domain/backups/uploads.ts'
import { body, params, query, returns, summary } from '../../http/route.ts'
import { type RemoteEnv, serversOfNode } from './middleware.ts'

/** Bytes: enough for the ETags of every part of an upload. */
const maxReportBytes = 2 * 1024 * 1024

const BackupParams = () => z.object({ backup: z.guid() })

const UploadAnswer = () => z.strictObject({ parts: z.array(z.url()).min(1), part_size: z.int().min(1) })
const presentUpload = ({ parts, partSize }: BackupUpload) => ({ parts, part_size: partSize })

/** Spec: getRemoteBackupsByBackup. */
export const backups = new Hono<RemoteEnv>()
  .get(
    '/:backup',
    summary('Start the upload of a backup'),
    serversOfNode,
    params(BackupParams),
    query(UploadQuery),
    returns(200, UploadAnswer),
    async (c) => {
      const { panel, node } = c.var
      const { size } = c.req.valid('query')
      return c.json(presentUpload(await startUpload(panel, node, c.req.valid('param').backup, size)))
    },
  )

  .post(
    '/:backup',
    summary('Report the result of a backup'),
    serversOfNode,
    params(BackupParams),
    body(BackupReport, { limit: maxReportBytes }),
    returns(204),
    async (c) => {
      await applyBackupReport(c.var.panel, c.var.node, c.req.valid('param').backup, c.req.valid('json'))
      return c.body(null, 204)
    },
  )

  .post(
    '/:backup/restore',
    summary('Report the result of a restoration'),
    serversOfNode,
    params(BackupParams),
    body(RestorationReport, { requiresBody: true }),
    returns(204),
    async (c) => {
      await applyRestorationReport(c.var.panel, c.var.node, c.req.valid('param').backup, c.req.valid('json'))
      return c.body(null, 204)
    },
  )
