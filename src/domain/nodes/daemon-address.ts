import type { DaemonAddress, Panel } from '../../panel.ts'
import { decryptKept, type SecretLocation } from '../secrets.ts'

/** Returns the origin of a node's daemon, without a trailing slash, for the panel and browsers. */
export const daemonUrl = (node: Pick<DaemonAddress, 'scheme' | 'fqdn' | 'daemonListen'>) =>
  `${node.scheme}://${node.fqdn}:${node.daemonListen}`

/** Returns the location for which the token of a node's daemon is encrypted. */
export const tokenLocation = (node: Pick<DaemonAddress, 'uuid'>): SecretLocation => ({
  table: 'nodes',
  column: 'daemon_token',
  row: node.uuid,
})

/** Returns the location for which the token before the last reset is encrypted. */
export const previousTokenLocation = (node: Pick<DaemonAddress, 'uuid'>): SecretLocation => ({
  table: 'nodes',
  column: 'previous_token',
  row: node.uuid,
})

/** Decrypts the token that the panel shares with a node's daemon; it also signs the daemon's tokens. */
export const decryptDaemonToken = (
  panel: Pick<Panel, 'keys'>,
  node: Pick<DaemonAddress, 'uuid' | 'daemonToken'>,
): Promise<string> => decryptKept(panel, node.daemonToken, tokenLocation(node))
