import {
  canonicalAddress,
  embeddedIpv4,
  isAllowedAddress,
  isPublicAddress,
  lastIpv4,
} from '../ip-addresses.ts'

/** Whether an address may be called. */
export type EgressRule = (address: string) => boolean

/** Calls other machines, at addresses that its rule allows. Names are resolved once, and what was resolved is called. */
export type Egress<Connection = unknown> = {
  /** Sends a request as `fetch` does, without following redirects. Rejects with an `EgressError` as the cause, or itself. */
  fetch: (url: string, init?: RequestInit) => Promise<Response>
  /** Opens a TCP connection. Rejects with an `EgressError`, the error of the connection, or `ETIMEDOUT` once the signal has fired. */
  connect: (address: { host: string; port: number }, signal: AbortSignal) => Promise<Connection>
  /** Returns the addresses of a host that may be called, IPv4 first. Rejects with an `EgressError` when none may. */
  resolve: (host: string) => Promise<string[]>
}

/** The code of an `EgressError`. */
export const egressRefused = 'ERR_EGRESS_REFUSED'

/** Says that the panel does not call an address, which it did not. */
export class EgressError extends Error {
  readonly code = egressRefused

  constructor(host: string, isForbidden: boolean) {
    super(
      isForbidden
        ? `The panel does not call ${host}: it is a link-local address or that of a cloud's metadata. Enter another address.`
        : `The panel does not call ${host}: its network is not in EGRESS_PRIVATE_NETWORKS. Add it there, or enter another address.`,
    )
  }
}

/** Link-local networks, in which clouds hand out credentials to all that connect. */
const linkLocalNetworks = ['169.254.0.0/16', 'fe80::/10']
/** Other addresses of clouds with credentials or the configuration of the machine. */
const metadataAddresses = [
  // Alibaba, Azure, Oracle.
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
  // Amazon, Google, Akamai, Scaleway.
  'fd00:ec2::/32',
  'fd20:ce::254',
  'fd00:a9fe:a9fe::/48',
  'fd00:42::42',
]
const forbiddenNetworks = [...linkLocalNetworks, ...metadataAddresses]
/** What the last bits of an address of any network must not say: it may have a prefix of its own for NAT64. */
const forbiddenEndings = ['169.254.169.254', '169.254.170.2', ...metadataAddresses]

/** Names of such addresses, where they cannot be resolved. */
const metadataNames =
  /^(?:metadata|instance-data)(?:\.ec2\.internal|\.google\.internal|\.goog|\.tencentyun\.com)?\.?$/

/** Whether a host is a name of such an address. */
export const isMetadataName = (host: string): boolean => metadataNames.test(host.toLowerCase())

/** Whether an address is never called: it is link-local or a cloud's metadata, or leads to such an IPv4 address. */
export function isNeverCalled(address: string): boolean {
  const canonical = canonicalAddress(address)
  if (canonical === null) return true
  const ending = lastIpv4(canonical)
  return (
    [canonical, ...embeddedIpv4(canonical)].some((each) => isAllowedAddress(each, forbiddenNetworks)) ||
    (ending !== null && isAllowedAddress(ending, forbiddenEndings))
  )
}

/** Addresses whose answer is kept: to judge one takes as long as the rest of a call. */
const maxKeptAnswers = 1000

/** Allows public addresses and those of `networks` (CIDR), except the ones that are never called. */
export function egressRule(networks: readonly string[]): EgressRule {
  const answers = new Map<string, boolean>()
  const judge: EgressRule = (address) =>
    !isNeverCalled(address) &&
    (isPublicAddress(address) || (networks.length > 0 && isAllowedAddress(address, networks)))
  return (address) => {
    const known = answers.get(address)
    if (known !== undefined) return known
    if (answers.size >= maxKeptAnswers) answers.clear()
    const answer = judge(address)
    answers.set(address, answer)
    return answer
  }
}

/**
 * Refuses with an `EgressError` a host that is written as an address which may not be called: also as one number, in octal
 * or hexadecimal, as Node and URLs read it. Accepts names, which the resolver has to check.
 */
export function requireCallable(host: string, mayCall: EgressRule): void {
  const written = canonicalAddress(host) ?? URL.parse(`http://${host}`)?.hostname ?? host
  if (isMetadataName(written)) throw new EgressError(host, true)
  const address = canonicalAddress(written)
  if (address !== null && !mayCall(address)) throw new EgressError(host, isNeverCalled(address))
}
