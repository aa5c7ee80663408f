import { eq, isNull, type SQL, sql } from 'drizzle-orm'
import { nodes } from '../../db/schema.ts'
import type { Node } from '../../db/tables/nodes.ts'
import type { KeyRing, Panel } from '../../panel.ts'
import { decryptDaemonToken } from '../nodes/daemon-address.ts'
import { equalSecrets } from '../secrets.ts'

/**
 * The pair that a daemon presented and that this process has found right before, with the ciphertext that it was found
 * in. It is right as long as the database still has both: a statement that writes checks that itself.
 */
export type KnownPair = { tokenId: string; encrypted: string }

const knownNodes = new WeakMap<KeyRing, Map<string, Node>>()
/** Nodes that a process knows, those that called last. */
const maxKnownNodes = 2000

/** Keeps a node whose current pair was right; forgets it while a reset with grace waits for its first use. */
export function keepNode(panel: Panel, node: Node): void {
  const known = knownNodes.get(panel.keys) ?? new Map<string, Node>()
  knownNodes.set(panel.keys, known)
  // The order of a map is that of insertion: the first one did not call for the longest time.
  known.delete(node.daemonTokenId)
  if (node.previousTokenId === null) known.set(node.daemonTokenId, node)
  const [oldest] = known.keys()
  if (known.size > maxKnownNodes && oldest !== undefined) known.delete(oldest)
}

/**
 * Finds the node of a token in this process, as it was when it called last; null when the token was not right then. The
 * caller may write only by a statement with `isCurrentPair`, and has to authenticate the node before anything else.
 */
export async function findKnownNode(
  panel: Panel,
  header: string | undefined,
): Promise<{ node: Node; pair: KnownPair } | null> {
  const [, tokenId = '', secret = ''] = /^bearer\s+([^.]+)\.([^.]+)$/i.exec(header?.trim() ?? '') ?? []
  const node = knownNodes.get(panel.keys)?.get(tokenId)
  if (!node || !equalSecrets(secret, await decryptDaemonToken(panel, node))) return null
  return { node, pair: { tokenId, encrypted: node.daemonToken } }
}

/**
 * Whether a node still has the pair of the placeholders `tokenId` and `encrypted`, and none before it that the use of this
 * one would end. Without a pair (null) the node was authenticated before the statement.
 */
export const isCurrentPair = (): SQL => {
  const { tokenId, encrypted } = pairPlaceholders
  return sql`(${tokenId}::text is null or (${eq(nodes.daemonTokenId, tokenId)}
    and ${eq(nodes.daemonToken, encrypted)} and ${isNull(nodes.previousTokenId)}))`
}

const pairPlaceholders = { tokenId: sql.placeholder('tokenId'), encrypted: sql.placeholder('encrypted') }
