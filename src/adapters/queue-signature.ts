import { Receiver } from '@upstash/qstash'
import { decodeJwt, decodeProtectedHeader } from 'jose'

/** The signing keys of the queue. Both are accepted, since QStash rotates them. */
export type SigningKeys = { current: string; next: string }

export type SignedMessage = {
  signature: string
  /** The unparsed body. */
  body: string
  /** The URL to which the queue sent the message: from the configuration, never from the request. */
  url: string
  now: Date
}

/** Seconds by which clocks may differ. */
const clockToleranceSeconds = 60
/** Seconds until the expiry of a message, at most. */
const maxLifetimeSeconds = 600

/** `next` means that QStash has rotated its keys and that the panel's must be updated. */
export type SigningKeyName = 'current' | 'next'

/**
 * Finds the key with which QStash signed this message for this URL; null when it did not. Also verifies the algorithm,
 * the expiry and the body claim, which the receiver of the SDK does not.
 */
export async function findSigningKey(
  keys: SigningKeys,
  message: SignedMessage,
): Promise<SigningKeyName | null> {
  if (keys.current === '' || keys.next === '' || keys.current === keys.next) return null
  if (!hasValidClaims(message)) return null
  if (await isSignedWith(keys.current, message)) return 'current'
  return (await isSignedWith(keys.next, message)) ? 'next' : null
}

async function isSignedWith(key: string, { signature, body, url }: SignedMessage): Promise<boolean> {
  const receiver = new Receiver({ currentSigningKey: key, nextSigningKey: key, devMode: false })
  try {
    return await receiver.verify({ signature, body, url, clockTolerance: clockToleranceSeconds })
  } catch {
    return false
  }
}

function hasValidClaims({ signature, now }: SignedMessage): boolean {
  const seconds = now.getTime() / 1000
  const token = decodeToken(signature)
  if (!token) return false
  const { exp, nbf, iat, body } = token.claims
  return (
    token.alg === 'HS256' &&
    typeof exp === 'number' &&
    exp > seconds - clockToleranceSeconds &&
    exp <= seconds + maxLifetimeSeconds &&
    (nbf === undefined || nbf <= seconds + clockToleranceSeconds) &&
    (iat === undefined || iat <= seconds + clockToleranceSeconds) &&
    typeof body === 'string'
  )
}

function decodeToken(token: string) {
  try {
    return { claims: decodeJwt(token), alg: decodeProtectedHeader(token).alg }
  } catch {
    return null
  }
}
