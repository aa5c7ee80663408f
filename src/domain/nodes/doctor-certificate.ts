import type { ProbedCertificate } from '../../adapters/node-probe.ts'
import type { HeartbeatCause } from '../../db/tables/node-heartbeats.ts'
import type { Node } from '../../db/tables/nodes.ts'
import { certificateWarningDays } from '../heartbeats/certificates.ts'
import { type DoctorCheck, finding } from './doctor-findings.ts'

const dayMs = 86_400_000
const maxNamesLength = 200

/** Judges the certificate of a node; without one that was read, by why the daemon could not be called. */
export function certificateCheck(
  { scheme, fqdn: host }: Pick<Node, 'scheme' | 'fqdn'>,
  certificate: ProbedCertificate | null,
  cause: HeartbeatCause | null,
  now: Date,
): DoctorCheck {
  if (scheme === 'http') return finding('skipped', 'certificate.none')
  if (!certificate) return withoutCertificate(cause)
  const { validUntil, matchesName, error } = certificate
  const names = certificate.names.slice(0, maxNamesLength)
  const date = validUntil.toISOString().slice(0, 10)
  if (validUntil <= now) return finding('failed', 'certificate.expired', { date })
  if (!matchesName) return finding('failed', 'certificate.other_name', { names, host })
  if (error !== null) return finding('failed', 'certificate.untrusted', { error })
  if (validUntil.getTime() - now.getTime() < certificateWarningDays * dayMs)
    return finding('warning', 'certificate.ends_soon', { date })
  return finding('ok', 'certificate.valid', { date })
}

function withoutCertificate(cause: HeartbeatCause | null): DoctorCheck {
  if (cause === null || cause === 'credential' || cause === 'failed' || cause === 'answer')
    return finding('ok', 'certificate.accepted')
  if (cause === 'certificate') return finding('failed', 'certificate.refused')
  if (cause === 'tls' || cause === 'reset') return finding('failed', 'certificate.no_tls')
  return finding('skipped', 'certificate.skipped')
}
