import { and, eq, notInArray } from 'drizzle-orm'
import { isForeignKeyViolation } from '../../db/database.ts'
import { eggMount, mountNode } from '../../db/schema.ts'
import type { Tx } from '../../panel.ts'
import { invalidField } from '../validation.ts'

/** The ids of the eggs and the nodes that allow a mount, in their order. */
export type MountMembers = { eggs: number[]; nodes: number[] }

/** Finds the eggs and the nodes that allow a mount. */
export async function findMembers(tx: Tx, mountId: number): Promise<MountMembers> {
  const eggs = await tx.db
    .select({ id: eggMount.eggId })
    .from(eggMount)
    .where(eq(eggMount.mountId, mountId))
    .orderBy(eggMount.eggId)
  const nodes = await tx.db
    .select({ id: mountNode.nodeId })
    .from(mountNode)
    .where(eq(mountNode.mountId, mountId))
    .orderBy(mountNode.nodeId)
  return { eggs: eggs.map(({ id }) => id), nodes: nodes.map(({ id }) => id) }
}

/** Replaces the eggs and the nodes that allow a mount. Refuses with 422 those that do not exist. */
export async function replaceMembers(tx: Tx, mountId: number, members: MountMembers): Promise<void> {
  const { eggs, nodes } = members
  await tx.db.delete(eggMount).where(and(eq(eggMount.mountId, mountId), notInArray(eggMount.eggId, eggs)))
  await tx.db
    .delete(mountNode)
    .where(and(eq(mountNode.mountId, mountId), notInArray(mountNode.nodeId, nodes)))
  await insertMembers('eggs', eggs, () =>
    tx.db
      .insert(eggMount)
      .values(eggs.map((eggId) => ({ eggId, mountId })))
      .onConflictDoNothing(),
  )
  await insertMembers('nodes', nodes, () =>
    tx.db
      .insert(mountNode)
      .values(nodes.map((nodeId) => ({ nodeId, mountId })))
      .onConflictDoNothing(),
  )
}

async function insertMembers(field: keyof MountMembers, ids: number[], insert: () => Promise<unknown>) {
  if (ids.length === 0) return
  try {
    await insert()
  } catch (error) {
    if (!isForeignKeyViolation(error)) throw error
    throw invalidField(field, 'exists', `One of the ${field} does not exist.`)
  }
}
