import type { ProbedCertificate } from '../../adapters/node-probe.ts'
import type { HeartbeatCause } from '../../db/tables/node-heartbeats.ts'
import type { Node } from '../../db/tables/nodes.ts'
import { type DoctorCheck, finding } from './doctor-findings.ts'

/** Days before its end at which a certificate is worth a warning. */
const warningDays = 14
const dayMs = 86_400_000

const renewal = 'Renew it (certbot renew), and restart Wings, which reads it at its start.'

/** Judges the certificate of a node; without one that was read, by why the daemon could not be called. */
export function certificateCheck(
  { scheme, fqdn }: Pick<Node, 'scheme' | 'fqdn'>,
  certificate: ProbedCertificate | null,
  cause: HeartbeatCause | null,
  now: Date,
): DoctorCheck {
  const check = (state: DoctorCheck['state'], meaning: string, advice: string | null = null) =>
    finding('certificate', state, meaning, advice)
  if (scheme === 'http') return check('skipped', 'The node has no certificate: its scheme is http.')
  if (!certificate) return check(...withoutCertificate(cause))
  const { validUntil, names, matchesName, error } = certificate
  const until = validUntil.toISOString().slice(0, 10)
  if (validUntil <= now) return check('failed', `The certificate expired on ${until}.`, renewal)
  if (!matchesName) {
    const advice = `Use a certificate for ${fqdn}, or correct the host name of the node.`
    return check('failed', `The certificate is for ${names.slice(0, 200)}, not for ${fqdn}.`, advice)
  }
  if (error !== null) {
    const advice =
      'Use a certificate of a public authority, with the whole chain (fullchain.pem) in api.ssl.cert.'
    return check('failed', `The certificate is not trusted (${error}).`, advice)
  }
  if (validUntil.getTime() - now.getTime() < warningDays * dayMs)
    return check('warning', `The certificate ends on ${until}.`, renewal)
  return check('ok', `The certificate is valid until ${until}.`)
}

function withoutCertificate(cause: HeartbeatCause | null): [DoctorCheck['state'], string, (string | null)?] {
  if (cause === null || cause === 'credential' || cause === 'failed' || cause === 'answer')
    return ['ok', 'The certificate is accepted.']
  if (cause === 'certificate')
    return [
      'failed',
      'The certificate is not valid for the name of the node, has expired, or is not trusted.',
      renewal,
    ]
  if (cause === 'tls' || cause === 'reset')
    return [
      'failed',
      'The port does not speak TLS.',
      'Set api.ssl.enabled to true in config.yml with the files of the certificate, or put Wings behind a proxy.',
    ]
  return ['skipped', 'The certificate is read once the port answers.']
}
