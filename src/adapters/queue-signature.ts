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

/**
 * Whether QStash signed exactly this message for exactly this address, with the current or the
 * next key. Checks also what the SDK's receiver leaves out: algorithm, expiry, and the body claim.
 */
export async function isSignedByQueue(keys: SigningKeys, message: SignedMessage): Promise<boolean> {
  if (keys.current === '' || keys.next === '' || keys.current === keys.next) return false
  try {
    if (!hasSoundClaims(message)) return false
    const receiver = new Receiver({
      currentSigningKey: keys.current,
      nextSigningKey: keys.next,
      devMode: false,
    })
    const { signature, body, url } = message
    return await receiver.verify({ signature, body, url, clockTolerance: skew })
  } catch {
    return false
  }
}

function hasSoundClaims({ signature, now }: SignedMessage): boolean {
  const seconds = now.getTime() / 1000
  const { exp, nbf, iat, body } = decodeJwt(signature)
  return (
    decodeProtectedHeader(signature).alg === 'HS256' &&
    typeof exp === 'number' &&
    exp > seconds - skew &&
    exp <= seconds + longestLife &&
    (nbf === undefined || nbf <= seconds + skew) &&
    (iat === undefined || iat <= seconds + skew) &&
    typeof body === 'string'
  )
}
