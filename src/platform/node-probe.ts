import { isIP, type Socket } from 'node:net'
import { checkServerIdentity, connect as connectTls, type TLSSocket } from 'node:tls'
import { type Egress, egressRefused } from '../adapters/egress.ts'
import type { NodeProbe, ProbedCertificate, ProbeTarget } from '../adapters/node-probe.ts'
import { withTimeout } from '../with-timeout.ts'

/** Milliseconds for each step. */
const timeoutMs = 4_000

/** Probes daemons with the sockets of Node. */
export const nodeProbe =
  ({ resolve, connect }: Egress<Socket>): NodeProbe =>
  async ({ host: written, port, isSecure }) => {
    const host = written.replace(/^\[(.*)\]$/, '$1')
    const nothing = { isRefused: false, connectError: null, tlsError: null, certificate: null }
    const { addresses, dnsError } = await resolveHost(resolve, host)
    if (dnsError !== null) return { ...nothing, addresses, dnsError, isRefused: dnsError === egressRefused }
    const { socket, connectError } = await tryConnect(connect, { host, port })
    if (socket === null) return { ...nothing, addresses, dnsError, connectError }
    const found = isSecure ? await readCertificate(socket, host) : null
    socket.destroy()
    return { ...nothing, addresses, dnsError, ...found }
  }

async function resolveHost(
  resolve: Egress['resolve'],
  host: string,
): Promise<{ addresses: string[]; dnsError: string | null }> {
  try {
    const addresses = await withTimeout(resolve(host), timeoutMs, null)
    return addresses ? { addresses, dnsError: null } : { addresses: [], dnsError: 'ETIMEDOUT' }
  } catch (error) {
    return { addresses: [], dnsError: codeOf(error) }
  }
}

/** Connects to a port. The error is the code of the failure, or null. */
async function tryConnect(
  connect: Egress<Socket>['connect'],
  address: Pick<ProbeTarget, 'host' | 'port'>,
): Promise<{ socket: Socket | null; connectError: string | null }> {
  try {
    const socket = await connect(address, AbortSignal.timeout(timeoutMs))
    return { socket, connectError: null }
  } catch (error) {
    return { socket: null, connectError: codeOf(error) }
  }
}

const readCertificate = (open: Socket, host: string) =>
  new Promise<{ tlsError: string | null; certificate: ProbedCertificate | null }>((done) => {
    const servername = isIP(host) === 0 ? host : undefined
    // An invalid certificate is what the caller asks about; nothing is sent over the connection.
    const socket = connectTls({
      socket: open,
      rejectUnauthorized: false,
      ...(servername ? { servername } : {}),
    })
    const fail = (tlsError: string | null) => done({ tlsError, certificate: null })
    settle(socket, fail)
    socket.once('secureConnect', () =>
      end(socket, done, { tlsError: null, certificate: certificateOf(socket, host) }),
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
