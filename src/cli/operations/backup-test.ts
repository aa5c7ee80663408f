import * as z from 'zod'
import { testObjectStore } from '../../domain/operations/object-store-test.ts'
import type { Panel } from '../../panel.ts'
import { reasonOf, OperationError } from '../faults.ts'
import { type Check, privateStoreChecks } from './checks.ts'

/** The input of `backup:test`: nothing. */
export const BackupTestInput = () => z.object({})

/** Tests the object store of the panel, and warns when its address is private. */
export async function runBackupTest(panel: Panel): Promise<{ checks: Check[] }> {
  return { checks: [...(await checkUploads(panel)), ...(await privateStoreChecks(panel))] }
}

/** Tests what backups need of the object store. Throws when the store does not support multipart uploads. */
export async function checkUploads({ objects }: Pick<Panel, 'objects'>): Promise<Check[]> {
  const uploads = objects.multipart
  if (!uploads)
    throw new OperationError('This panel stores objects on its own disk: set S3_BUCKET and its keys.')
  const steps = await testObjectStore({ objects, uploads }, reasonOf)
  return steps.map(({ name, isOk, detail }) => ({ name, state: isOk ? 'ok' : 'fail', detail }))
}
