import * as z from 'zod'
import { createConfigureCommand } from '../../domain/nodes/configure-command.ts'
import { findNodeConfiguration, type NodeConfiguration } from '../../domain/nodes/configuration.ts'
import type { Panel } from '../../panel.ts'
import { findFirstAdministrator, findNodeNamed } from '../find-by-name.ts'

/** The input of `node:configure`; `node` is an id, uuid or name. */
export const NodeConfigureInput = () =>
  z.object({ node: z.string().min(1, 'required'), command: z.boolean().nullish() })

export type ConfiguredNode = {
  node: { id: number; uuid: string; name: string }
  configuration?: NodeConfiguration
  /** The command that makes Wings fetch the configuration itself, until `expires_at`. */
  command?: string
  expires_at?: string
}

/** Returns the configuration of a node's daemon, or the command that fetches it. Throws when the node does not exist. */
export async function configureNode(
  panel: Panel,
  input: z.output<ReturnType<typeof NodeConfigureInput>>,
): Promise<ConfiguredNode> {
  const { id, uuid, name } = await findNodeNamed(panel, input.node)
  const node = { id, uuid, name }
  if (!input.command) return { node, configuration: await findNodeConfiguration(panel, id) }
  const { command, expiresAt } = await createConfigureCommand(
    panel,
    node,
    await findFirstAdministrator(panel),
  )
  return { node, command, expires_at: expiresAt.toISOString() }
}
