import type { ApiKey } from '../../db/tables/api-keys.ts'
import type { Node } from '../../db/tables/nodes.ts'
import type { Panel } from '../../panel.ts'
import { addApiKey, addApplicationKey } from '../auth/api-keys.ts'
import { findNode } from './nodes.ts'

/** Milliseconds for which the key of a `wings configure` command is valid. */
const keyLifetimeMs = 60 * 60 * 1000

/** A command that makes Wings fetch the configuration of its node itself, and until when it works. */
export type ConfigureCommand = { command: string; expiresAt: Date }

/**
 * Creates the command with an Application key of an administrator, which can only read and change nodes and expires
 * after an hour. Records `user:api-key.create`.
 */
export async function createConfigureCommand(
  panel: Panel,
  node: Pick<Node, 'id' | 'name'>,
  owner: { id: number },
): Promise<ConfigureCommand> {
  const expiresAt = expiryOf(panel)
  const description = descriptionOf(node)
  const created = await addApiKey(panel, owner, {
    type: 'application',
    description,
    acl: { nodes: 3 },
    expiresAt,
  })
  return { command: commandOf(panel, node, created), expiresAt }
}

/**
 * Does the same with a key of the caller, within their own levels, addresses and expiry. Refuses with 404, and as
 * `addApplicationKey`.
 */
export async function createOwnConfigureCommand(panel: Panel, nodeId: number): Promise<ConfigureCommand> {
  const node = await findNode(panel, nodeId)
  const expiresAt = expiryOf(panel)
  const level = (panel.actor.kind === 'user' && panel.actor.acl?.nodes) || 0
  const created = await addApplicationKey(panel, {
    description: descriptionOf(node),
    acl: { nodes: level },
    expires_at: expiresAt.toISOString(),
  })
  return { command: commandOf(panel, node, created), expiresAt }
}

const expiryOf = (panel: Panel) => new Date(panel.now().getTime() + keyLifetimeMs)
const descriptionOf = ({ name }: Pick<Node, 'name'>) => `Configures the daemon of ${name}`
const commandOf = (
  panel: Panel,
  { id }: Pick<Node, 'id'>,
  { key, secret }: { key: ApiKey; secret: string },
) => `wings configure --panel-url ${panel.config.url} --token ${key.identifier + secret} --node ${id}`
