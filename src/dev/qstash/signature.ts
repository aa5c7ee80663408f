import { createHash, createHmac, randomUUID } from 'node:crypto'

/** The keys a queue signs with: `current` signs, and `next` takes its place when the keys are rolled. */
export type SigningKeys = { current: string; next: string }

/** Seconds for which a signature is valid. */
const lifetimeSeconds = 300

const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')
const header = encode({ alg: 'HS256', typ: 'JWT' })

/** Signs a message as QStash does: an `Upstash-Signature` JWT over its URL and the SHA-256 of its body. */
export function signMessage(message: {
  key: string
  url: string
  body: string | Uint8Array
  now?: Date
}): string {
  const issuedAt = Math.floor((message.now ?? new Date()).getTime() / 1000)
  const claims = {
    iss: 'Upstash',
    sub: message.url,
    iat: issuedAt,
    nbf: issuedAt,
    exp: issuedAt + lifetimeSeconds,
    jti: `jwt_${randomUUID()}`,
    body: createHash('sha256').update(message.body).digest('base64url'),
  }
  const signed = `${header}.${encode(claims)}`
  return `${signed}.${createHmac('sha256', message.key).update(signed).digest('base64url')}`
}
