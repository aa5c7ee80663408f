import ipaddr from 'ipaddr.js'
import type { Allocation } from '../../db/tables/allocations.ts'
import type { Node } from '../../db/tables/nodes.ts'
import { canonicalAddress } from '../../ip-addresses.ts'
import { normalizeHost } from '../host-names.ts'

/**
 * Returns the host at which the panel queries a game: the node's query address, else the allocation's address
 * when it is public, else its alias, else the node's host name. Administrators alone set these.
 */
export function resolveGameHost(
  node: Pick<Node, 'queryAddress' | 'fqdn'>,
  allocation: Pick<Allocation, 'ip' | 'ipAlias'>,
): string {
  const { ip } = allocation
  if (node.queryAddress) return stripBrackets(node.queryAddress)
  if (addressRange(ip) === 'unicast') return stripBrackets(ip)
  const alias = allocation.ipAlias === null ? null : normalizeHost(allocation.ipAlias)
  if (alias !== null) return stripBrackets(alias)
  const isPublicAddress = ['unicast', null].includes(addressRange(node.fqdn))
  return stripBrackets(isPublicAddress || addressRange(ip) === 'unspecified' ? node.fqdn : ip)
}

/** Returns the kind of an address, `unicast` for public ones; null for names. */
function addressRange(host: string): string | null {
  const address = canonicalAddress(host)
  return address === null ? null : ipaddr.parse(address).range()
}

/** Removes the brackets of an IPv6 address in a URL. */
const stripBrackets = (host: string) => host.replace(/^\[(.*)\]$/, '$1')
