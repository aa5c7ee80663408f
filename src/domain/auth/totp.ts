import { base32 } from 'oslo/encoding'
import { createTOTPKeyURI, generateHOTP } from 'oslo/otp'
import { equalSecrets } from '../secrets.ts'

const stepMs = 30_000
/** 160 bits, the length of SHA-1: 32 characters in base32. */
const secretBytes = 20

/** Generates a random secret for an authenticator, in base32. RFC 4226, section 4. */
export const generateTotpSecret = (): string =>
  base32.encode(crypto.getRandomValues(new Uint8Array(secretBytes)), { includePadding: false })

/**
 * Returns the URI of the QR code. Spaces are removed from the issuer, because some authenticators cannot
 * read them.
 */
export const totpUri = (secret: string, account: string, issuer: string): string =>
  createTOTPKeyURI(issuer.replaceAll(/\s/g, ''), account, base32.decode(secret))

/**
 * Returns the 30-second step of the code: the current one or a neighbour, because clocks differ; null for a
 * wrong code. The caller stores the step, so that each works once. RFC 6238.
 */
export async function findTotpStep(secret: string, code: string, now: Date): Promise<number | null> {
  const key = base32.decode(secret)
  const current = Math.floor(now.getTime() / stepMs)
  const steps = [current - 1, current, current + 1]
  const codes = await Promise.all(steps.map((step) => generateHOTP(key, step)))
  // Compares all of them, so that the time reveals nothing.
  const matches = codes.map((expected) => equalSecrets(code, expected))
  return steps[matches.lastIndexOf(true)] ?? null
}
