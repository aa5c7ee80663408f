import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { attestationCertificate } from './attestation-certificate.ts'

type CborValue = number | string | Uint8Array | Map<number | string, CborValue> | CborValue[]

/** What an authenticator, or whoever stands in for one, does otherwise than it should. */
export type Twist = {
  origin?: string
  rpId?: string
  challenge?: string
  type?: string
  crossOrigin?: boolean
  isUserVerified?: boolean
  counter?: number
  userHandle?: string
  /** Who vouches for the authenticator: nobody, itself, or its maker; or a statement of no known kind. */
  vouchedBy?: 'nobody' | 'itself' | 'maker' | 'odd'
}

type Asked = { challenge: string }
type AskedToMake = Asked & { user: { id: string } }

/** Made in software: an ES256 key that signs what browsers have authenticators sign. */
export type Authenticator = ReturnType<typeof openAuthenticator>

/** An authenticator with one passkey for the panel at this origin. Spec: Web Authentication. */
export function openAuthenticator(origin: string) {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
  const id = randomBytes(32)
  const rpId = new URL(origin).hostname
  const state = { counter: 0, userHandle: '' }

  const clientData = (type: string, { challenge }: Asked, twist: Twist) =>
    Buffer.from(
      JSON.stringify({
        type: twist.type ?? type,
        challenge: twist.challenge ?? challenge,
        origin: twist.origin ?? origin,
        crossOrigin: twist.crossOrigin ?? false,
      }),
    )
  const authenticatorData = (twist: Twist, credential: Buffer) =>
    Buffer.concat([
      sha256(twist.rpId ?? rpId),
      Buffer.from([1 | (twist.isUserVerified === false ? 0 : 4) | (credential.length > 0 ? 0x40 : 0)]),
      uint(twist.counter ?? state.counter, 4),
      credential,
    ])
  const publicKeyBytes = cbor(
    new Map<number, CborValue>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, Buffer.from(x, 'base64url')],
      [-3, Buffer.from(y, 'base64url')],
    ]),
  )

  return {
    id: id.toString('base64url'),
    state,
    /** What `navigator.credentials.create` gives, as our pages send it. */
    make: (options: AskedToMake, twist: Twist = {}) => {
      state.userHandle = options.user.id
      const credential = Buffer.concat([Buffer.alloc(16), uint(id.length, 2), id, publicKeyBytes])
      const data = authenticatorData(twist, credential)
      const client = clientData('webauthn.create', options, twist)
      const attestationObject = new Map<string, CborValue>([
        ...statementOf(twist.vouchedBy ?? 'nobody', Buffer.concat([data, sha256(client)]), privateKey),
        ['authData', data],
      ])
      return {
        id: id.toString('base64url'),
        response: {
          clientDataJSON: client.toString('base64url'),
          attestationObject: cbor(attestationObject).toString('base64url'),
          transports: ['internal', 'hybrid'],
        },
      }
    },
    /** What `navigator.credentials.get` gives, as our pages send it. */
    use: (options: Asked, twist: Twist = {}) => {
      state.counter += 1
      const data = authenticatorData(twist, Buffer.alloc(0))
      const client = clientData('webauthn.get', options, twist)
      const signature = sign('sha256', Buffer.concat([data, sha256(client)]), privateKey)
      return {
        id: id.toString('base64url'),
        response: {
          clientDataJSON: client.toString('base64url'),
          authenticatorData: data.toString('base64url'),
          signature: signature.toString('base64url'),
          userHandle: twist.userHandle ?? state.userHandle,
        },
      }
    },
  }
}

function statementOf(
  voucher: NonNullable<Twist['vouchedBy']>,
  signed: Buffer,
  ownKey: KeyObject,
): Map<string, CborValue> {
  const statement = (fmt: string, members: [string, CborValue][]) =>
    new Map<string, CborValue>([
      ['fmt', fmt],
      ['attStmt', new Map<string, CborValue>(members)],
    ])
  const signedBy = (key: KeyObject): [string, CborValue][] => [
    ['alg', -7],
    ['sig', sign('sha256', signed, key)],
  ]
  const { key, bytes } = attestationCertificate
  switch (voucher) {
    case 'nobody':
      return statement('none', [])
    case 'itself':
      return statement('packed', signedBy(ownKey))
    case 'maker':
      return statement('packed', [...signedBy(key), ['x5c', [bytes]]])
    case 'odd':
      return statement('odd', [])
  }
}

const sha256 = (data: string | Buffer): Buffer => createHash('sha256').update(data).digest()

function uint(value: number, bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes)
  buffer.writeUIntBE(value, 0, bytes)
  return buffer
}

/** As much of CBOR as authenticators write. Spec: RFC 8949. */
function cbor(value: CborValue): Buffer {
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value)
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)])
  if (value instanceof Uint8Array) return Buffer.concat([head(2, value.byteLength), value])
  if (Array.isArray(value)) return Buffer.concat([head(4, value.length), ...value.map(cbor)])
  const members = [...value].flatMap(([key, member]) => [cbor(key), cbor(member)])
  return Buffer.concat([head(5, value.size), ...members])
}

function head(type: number, length: number): Buffer {
  if (length < 24) return Buffer.from([(type << 5) | length])
  if (length < 256) return Buffer.from([(type << 5) | 24, length])
  return Buffer.concat([Buffer.from([(type << 5) | 25]), uint(length, 2)])
}
