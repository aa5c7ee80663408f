import { createHash } from 'node:crypto'
import { SignJWT } from 'jose'

/** The keys a queue signs with: `current` signs, and `next` takes its place when the keys are rolled. */
export type SigningKeys = { current: string; next: string }

/** Seconds for which a signature is valid. */
const lifetimeSeconds = 300

/** Signs a message as QStash does: an `Upstash-Signature` JWT over its URL and the SHA-256 of its body. */
export function signMessage(message: {
  key: string
  url: string
  body: string | Uint8Array
  now?: Date
}): Promise<string> {
  const issuedAt = Math.floor((message.now ?? new Date()).getTime() / 1000)
  return new SignJWT({ body: createHash('sha256').update(message.body).digest('base64url') })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setIssuer('Upstash')
    .setSubject(message.url)
    .setIssuedAt(issuedAt)
    .setNotBefore(issuedAt)
    .setExpirationTime(issuedAt + lifetimeSeconds)
    .setJti(`jwt_${crypto.randomUUID()}`)
    .sign(new TextEncoder().encode(message.key))
}
