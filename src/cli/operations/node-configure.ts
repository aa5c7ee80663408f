import * as z from 'zod'
import { addApiKey } from '../../domain/auth/api-keys.ts'
import { findNodeConfiguration, type NodeConfiguration } from '../../domain/nodes/configuration.ts'
import type { Panel } from '../../panel.ts'
import { findFirstAdministrator, findNodeNamed } from '../find-by-name.ts'

/** Milliseconds for which the key of a `wings configure` command is valid. */
const keyLifetimeMs = 60 * 60 * 1000

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
  const { token, expiresAt } = await addTemporaryKey(panel, name)
  const command = `wings configure --panel-url ${panel.config.url} --token ${token} --node ${id}`
  return { node, command, expires_at: expiresAt.toISOString() }
}

/** Creates an Application key of the first administrator that can only read and change nodes, for an hour. */
async function addTemporaryKey(panel: Panel, name: string): Promise<{ token: string; expiresAt: Date }> {
  const owner = await findFirstAdministrator(panel)
  const expiresAt = new Date(panel.now().getTime() + keyLifetimeMs)
  const { key, secret } = await addApiKey(panel, owner, {
    type: 'application',
    description: `Configures the daemon of ${name}`,
    acl: { nodes: 3 },
    expiresAt,
  })
  return { token: key.identifier + secret, expiresAt }
}
