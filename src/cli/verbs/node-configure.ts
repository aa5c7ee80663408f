import * as z from 'zod'
import { addApiKey } from '../../domain/api-keys.ts'
import { findNodeConfiguration, type NodeConfiguration } from '../../domain/node-configuration.ts'
import type { Panel } from '../../panel.ts'
import { findFirstAdministrator, findNodeNamed } from '../named-rows.ts'

/** Milliseconds for which the key of a `wings configure` command is valid. */
const keyLifetime = 60 * 60 * 1000

/** What `node:configure` is given; `node` is an id, uuid or name. */
export const NodeConfiguring = () =>
  z.object({ node: z.string().min(1, 'required'), command: z.boolean().nullish() })

export type ConfiguredNode = {
  node: { id: number; uuid: string; name: string }
  configuration?: NodeConfiguration
  /** The command that makes Wings fetch the configuration itself, until `expires_at`. */
  command?: string
  expires_at?: string
}

/** The configuration of a node's daemon, or the command which fetches it. Refuses a node that does not exist. */
export async function configureNode(
  panel: Panel,
  input: z.output<ReturnType<typeof NodeConfiguring>>,
): Promise<ConfiguredNode> {
  const { id, uuid, name } = await findNodeNamed(panel, input.node)
  const node = { id, uuid, name }
  if (!input.command) return { node, configuration: await findNodeConfiguration(panel, id) }
  const { token, expiresAt } = await addShortKey(panel, name)
  const command = `wings configure --panel-url ${panel.config.url} --token ${token} --node ${id}`
  return { node, command, expires_at: expiresAt.toISOString() }
}

/** An Application key of the first administrator that can only read and change nodes, and not for long. */
async function addShortKey(panel: Panel, name: string): Promise<{ token: string; expiresAt: Date }> {
  const owner = await findFirstAdministrator(panel)
  const expiresAt = new Date(panel.now().getTime() + keyLifetime)
  const { key, secret } = await addApiKey(panel, owner, {
    type: 'application',
    description: `Configures the daemon of ${name}`,
    acl: { nodes: 3 },
    expiresAt,
  })
  return { token: key.identifier + secret, expiresAt }
}
