import * as z from 'zod'
import { changeNode } from '../../domain/nodes/nodes.ts'
import type { Panel } from '../../panel.ts'
import { findNodeNamed } from '../find-by-name.ts'

/** The input of `node:reset-secret`; `node` is an id, uuid or name. */
export const NodeResetSecretInput = () =>
  z.object({ node: z.string().min(1, 'required'), grace: z.boolean().nullish() })

export type ResetNode = {
  node: { id: number; uuid: string; name: string }
  /** The daemon may use its old secret until then; null when it may not. */
  grace_until: string | null
}

/** Replaces the credential of a node's daemon, as `changeNode` does. Throws when the node does not exist. */
export async function resetNodeSecret(
  panel: Panel,
  input: z.output<ReturnType<typeof NodeResetSecretInput>>,
): Promise<ResetNode> {
  const { id, uuid, name } = await findNodeNamed(panel, input.node)
  const { node } = await changeNode(panel, id, { reset_secret: true, grace: input.grace ?? false })
  return { node: { id, uuid, name }, grace_until: node.previousTokenExpiresAt?.toISOString() ?? null }
}
