import { lookup } from 'node:dns/promises'
import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { checkServerIdentity, connect as connectTls, type TLSSocket } from 'node:tls'
import type { NodeProbe, ProbedCertificate, ProbeTarget } from '../adapters/node-probe.ts'
import { withTimeout } from '../with-timeout.ts'

/** Milliseconds for each step. */
const timeoutMs = 4_000

/** Probes a daemon with the sockets of Node. */
export const nodeProbe: NodeProbe = async ({ host: written, port, isSecure }) => {
  const host = written.replace(/^\[(.*)\]$/, '$1')
  const nothing = { connectError: null, tlsError: null, certificate: null }
  const { addresses, dnsError } = await resolve(host)
  if (dnsError !== null) return { ...nothing, addresses, dnsError }
  const connectError = await tryConnect({ host, port })
  if (connectError !== null || !isSecure) return { ...nothing, addresses, dnsError, connectError }
  return { addresses, dnsError, connectError, ...(await readCertificate({ host, port })) }
}

async function resolve(host: string): Promise<{ addresses: string[]; dnsError: string | null }> {
  try {
    const found = await withTimeout(lookup(host, { all: true }), timeoutMs, null)
    if (!found) return { addresses: [], dnsError: 'ETIMEDOUT' }
    return { addresses: found.map(({ address }) => address), dnsError: null }
  } catch (error) {
    return { addresses: [], dnsError: codeOf(error) }
  }
}

type Address = Pick<ProbeTarget, 'host' | 'port'>

/** Returns the code of the failure, or null when the port accepts the connection. */
const tryConnect = (address: Address) =>
  new Promise<string | null>((done) => {
    const socket = connectTcp(address)
    settle(socket, done)
    socket.once('connect', () => end(socket, done, null))
  })

const readCertificate = (address: Address) =>
  new Promise<{ tlsError: string | null; certificate: ProbedCertificate | null }>((done) => {
    const servername = isIP(address.host) === 0 ? address.host : undefined
    // An invalid certificate is what the caller asks about; nothing is sent over the connection.
    const socket = connectTls({
      ...address,
      rejectUnauthorized: false,
      ...(servername ? { servername } : {}),
    })
    const fail = (tlsError: string | null) => done({ tlsError, certificate: null })
    settle(socket, fail)
    socket.once('secureConnect', () =>
      end(socket, done, { tlsError: null, certificate: certificateOf(socket, address.host) }),
    )
  })

/** Returns the certificate of a connection; null where the server shows none. */
function certificateOf(socket: TLSSocket, host: string): ProbedCertificate | null {
  const peer = socket.getPeerCertificate()
  if (!peer.valid_to) return null
  const error = socket.authorizationError as Error | string | null | undefined
  return {
    validUntil: new Date(peer.valid_to),
    names: peer.subjectaltname ?? String(peer.subject.CN),
    matchesName: checkServerIdentity(host, peer) === undefined,
    error: error ? (typeof error === 'string' ? error : codeOf(error)) : null,
  }
}

/** Ends with the code of an error, or of a timeout. */
function settle(socket: Socket, done: (code: string | null) => void): void {
  socket.setTimeout(timeoutMs, () => end(socket, done, 'ETIMEDOUT'))
  socket.on('error', (error) => end(socket, done, codeOf(error)))
}

function end<Value>(socket: Socket, done: (value: Value) => void, value: Value): void {
  socket.destroy()
  done(value)
}

const codeOf = (error: unknown) => (error as { code?: string }).code ?? 'UNKNOWN'
