import { Receiver } from '@upstash/qstash'
import { decodeJwt, decodeProtectedHeader } from 'jose'

/** The keys with which the queue signs: both are accepted while they are rolled. */
export type SigningKeys = { current: string; next: string }

export type SignedMessage = {
  signature: string
  /** The raw bytes as text, before anything parsed them. */
  body: string
  /** The address under which the queue knows us: configured, never taken from the request. */
  url: string
  now: Date
}

/** Seconds by which clocks may differ. */
const skew = 60
/** Seconds a message may still be valid for. */
const longestLife = 600

/** Once messages are signed by the next key, the keys of the panel have to be rolled, too. */
export type SigningKeyName = 'current' | 'next'

/**
 * By which key QStash signed exactly this message for exactly this address; null when it did not. Checks
 * also what the SDK's receiver leaves out: algorithm, expiry, and the body claim.
 */
export async function signingKeyOf(
  keys: SigningKeys,
  message: SignedMessage,
): Promise<SigningKeyName | null> {
  if (keys.current === '' || keys.next === '' || keys.current === keys.next) return null
  if (!hasSoundClaims(message)) return null
  if (await isSignedWith(keys.current, message)) return 'current'
  return (await isSignedWith(keys.next, message)) ? 'next' : null
}

async function isSignedWith(key: string, { signature, body, url }: SignedMessage): Promise<boolean> {
  const receiver = new Receiver({ currentSigningKey: key, nextSigningKey: key, devMode: false })
  try {
    return await receiver.verify({ signature, body, url, clockTolerance: skew })
  } catch {
    return false
  }
}

function hasSoundClaims({ signature, now }: SignedMessage): boolean {
  const seconds = now.getTime() / 1000
  const token = decoded(signature)
  if (!token) return false
  const { exp, nbf, iat, body } = token.claims
  return (
    token.alg === 'HS256' &&
    typeof exp === 'number' &&
    exp > seconds - skew &&
    exp <= seconds + longestLife &&
    (nbf === undefined || nbf <= seconds + skew) &&
    (iat === undefined || iat <= seconds + skew) &&
    typeof body === 'string'
  )
}

function decoded(token: string) {
  try {
    return { claims: decodeJwt(token), alg: decodeProtectedHeader(token).alg }
  } catch {
    return null
  }
}
