import { createHash } from 'node:crypto'
import { SignJWT } from 'jose'

/** The `Upstash-Signature` of a message: a JWT over its address and the hash of its body, valid for five minutes. */
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
    .setExpirationTime(issuedAt + 300)
    .setJti(`jwt_${crypto.randomUUID()}`)
    .sign(new TextEncoder().encode(message.key))
}
