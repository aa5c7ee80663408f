import { base32 } from 'oslo/encoding'
import { createTOTPKeyURI, generateHOTP } from 'oslo/otp'
import { equalSecrets } from './secrets.ts'

const stepMilliseconds = 30_000
/** 160 bits, as long as what SHA-1 gives: 32 characters in base32. */
const secretBytes = 20

/** A random secret for an authenticator, in base32. Spec: RFC 4226, 4. */
export const newTotpSecret = (): string =>
  base32.encode(crypto.getRandomValues(new Uint8Array(secretBytes)), { includePadding: false })

/** What the QR code of an authenticator says; the issuer's blanks are left out, since not every one reads them. */
export const totpUri = (secret: string, account: string, issuer: string): string =>
  createTOTPKeyURI(issuer.replaceAll(/\s/g, ''), account, base32.decode(secret))

/**
 * The number of the 30-second step whose code this is: that of `now` or a neighbour, since clocks differ.
 * Null when it is none of theirs. Whoever accepts it remembers the step: each works once. Spec: RFC 6238.
 */
export async function totpStep(secret: string, code: string, now: Date): Promise<number | null> {
  const key = base32.decode(secret)
  const current = Math.floor(now.getTime() / stepMilliseconds)
  const steps = [current - 1, current, current + 1]
  const codes = await Promise.all(steps.map((step) => generateHOTP(key, step)))
  // All are compared, whichever fits: the time tells nothing.
  const fits = codes.map((expected) => equalSecrets(code, expected))
  return steps[fits.lastIndexOf(true)] ?? null
}
