import type { DaemonAddress, Panel } from '../panel.ts'
import { open, type SecretPlace } from './secrets.ts'

/** Where the panel and browsers reach the daemon of a node: an origin without a trailing slash. */
export const daemonUrl = (node: Pick<DaemonAddress, 'scheme' | 'fqdn' | 'daemonListen'>) =>
  `${node.scheme}://${node.fqdn}:${node.daemonListen}`

/** Where the secret of a node's daemon is sealed. */
export const tokenPlace = (node: Pick<DaemonAddress, 'uuid'>): SecretPlace => ({
  table: 'nodes',
  column: 'daemon_token',
  row: node.uuid,
})

/** Where the secret before the last reset is sealed. */
export const previousTokenPlace = (node: Pick<DaemonAddress, 'uuid'>): SecretPlace => ({
  table: 'nodes',
  column: 'previous_token',
  row: node.uuid,
})

/** The secret which the panel and a node's daemon share, in the clear; also the key of the daemon's tokens. */
export const daemonSecret = (
  panel: Pick<Panel, 'keys'>,
  node: Pick<DaemonAddress, 'uuid' | 'daemonToken'>,
): Promise<string> => open(panel, node.daemonToken, tokenPlace(node))
