import { eq, sql } from 'drizzle-orm'
import { nodes } from '../../db/schema.ts'
import type { Tx } from '../../panel.ts'
import type { ServerResources } from './deploy.ts'

/** Adds memory and disk, in MiB, to what servers use of a node; negative amounts release it. Returns the statement. */
export const changeNodeUsage = (tx: Tx, nodeId: number, { memory, disk }: ServerResources) =>
  tx.db
    .update(nodes)
    .set({
      usedMemory: sql`${nodes.usedMemory} + ${memory}`,
      usedDisk: sql`${nodes.usedDisk} + ${disk}`,
    })
    .where(eq(nodes.id, nodeId))
