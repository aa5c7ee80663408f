/** The address of a daemon, as the panel calls it. */
export type ProbeTarget = { host: string; port: number; isSecure: boolean }

/** The certificate that a daemon shows, and why it is not trusted, as the code of OpenSSL. */
export type ProbedCertificate = {
  validUntil: Date
  names: string
  matchesName: boolean
  error: string | null
}

/** What a look at the network finds: addresses of the host, and whether its port and TLS answer. Errors are system codes. */
export type ProbeResult = {
  addresses: string[]
  dnsError: string | null
  /** Whether the panel does not call such addresses; then `dnsError` is set, too. */
  isRefused: boolean
  connectError: string | null
  tlsError: string | null
  certificate: ProbedCertificate | null
}

/** Resolves the host of a daemon, connects to its port, and reads its certificate. It sends nothing, and takes some seconds. */
export type NodeProbe = (target: ProbeTarget) => Promise<ProbeResult>
