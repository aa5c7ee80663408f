import * as z from 'zod'
import type { Panel } from '../../panel.ts'
import { type DatabaseDescription, describeDatabase } from '../archive/describe.ts'
import { OperationError } from '../faults.ts'

/** The input of `backup:snapshot`: whether the object store is copied too. */
export const BackupSnapshotInput = () => z.object({ objects: z.boolean() })

/** What `backup:create` packs: a folder, which it removes. */
export type Snapshot = DatabaseDescription & { folder: string }

/** Copies the embedded database and the object store of this process into a folder. */
export async function takeSnapshot(
  panel: Panel,
  input: z.output<ReturnType<typeof BackupSnapshotInput>>,
): Promise<Snapshot> {
  if (!panel.snapshot) throw new OperationError('This process has no embedded database.')
  const folder = await panel.snapshot(input)
  return { folder, ...(await describeDatabase(panel.db, panel.keys)) }
}
