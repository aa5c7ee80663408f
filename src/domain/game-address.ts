import ipaddr from 'ipaddr.js'
import type { Allocation } from '../db/tables/allocations.ts'
import type { Node } from '../db/tables/nodes.ts'
import { canonicalAddress } from '../addresses.ts'
import { hostOf } from './host-names.ts'

/**
 * Where the panel reaches the games of a node: where its administrator says, else at the allocation's address;
 * where that is one that only the node knows, at the alias or the node's own name. Nobody but administrators
 * sets any of these.
 */
export function gameHost(
  node: Pick<Node, 'queryAddress' | 'fqdn'>,
  allocation: Pick<Allocation, 'ip' | 'ipAlias'>,
): string {
  const { ip } = allocation
  if (node.queryAddress) return bare(node.queryAddress)
  if (rangeOf(ip) === 'unicast') return bare(ip)
  const alias = allocation.ipAlias === null ? null : hostOf(allocation.ipAlias)
  if (alias !== null) return bare(alias)
  const isKnownOutside = ['unicast', null].includes(rangeOf(node.fqdn))
  return bare(isKnownOutside || rangeOf(ip) === 'unspecified' ? node.fqdn : ip)
}

/** Kind of address, `unicast` being a public one; null for names. */
function rangeOf(host: string): string | null {
  const address = canonicalAddress(host)
  return address === null ? null : ipaddr.parse(address).range()
}

/** IPv6 has brackets in URLs alone. */
const bare = (host: string) => host.replace(/^\[(.*)\]$/, '$1')
