/** What the doctor looks at, in this order. */
export const doctorChecks = [
  'dns',
  'port',
  'certificate',
  'answer',
  'token',
  'version',
  'clock',
  'browser',
] as const

/** A finding: what it means, and what to do about it. `skipped` waits for an earlier check, `unknown` cannot be seen from here. */
export type DoctorCheck = {
  id: (typeof doctorChecks)[number]
  state: 'ok' | 'warning' | 'failed' | 'skipped' | 'unknown'
  meaning: string
  advice: string | null
  /** An address for the browser to try. */
  url: string | null
}
/** Builds a finding. */
export const finding = (
  id: DoctorCheck['id'],
  state: DoctorCheck['state'],
  meaning: string,
  advice: string | null = null,
  url: string | null = null,
): DoctorCheck => ({ id, state, meaning, advice, url })
