import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { attestationCertificate } from './attestation-certificate.ts'

type CborValue = number | string | Uint8Array | Map<number | string, CborValue> | CborValue[]

/** Deviations of an authenticator, or of an attacker, from a correct response. */
export type Deviations = {
  origin?: string
  rpId?: string
  challenge?: string
  type?: string
  crossOrigin?: boolean
  isUserVerified?: boolean
  counter?: number
  userHandle?: string
  /** The attestation of the authenticator: none, its own, that of its maker, or an unknown format. */
  attestation?: 'none' | 'itself' | 'maker' | 'odd'
}

type RequestOptions = { challenge: string }
type CreationOptions = RequestOptions & { user: { id: string } }

/** An authenticator in software, with an ES256 key. */
export type Authenticator = ReturnType<typeof openAuthenticator>

/** Opens an authenticator with one passkey for the panel at this origin. W3C Web Authentication Level 3. */
export function openAuthenticator(origin: string) {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
  const id = randomBytes(32)
  const rpId = new URL(origin).hostname
  const state = { counter: 0, userHandle: '' }

  const clientData = (type: string, { challenge }: RequestOptions, deviations: Deviations) =>
    Buffer.from(
      JSON.stringify({
        type: deviations.type ?? type,
        challenge: deviations.challenge ?? challenge,
        origin: deviations.origin ?? origin,
        crossOrigin: deviations.crossOrigin ?? false,
      }),
    )
  const authenticatorData = (deviations: Deviations, credential: Buffer) =>
    Buffer.concat([
      sha256(deviations.rpId ?? rpId),
      Buffer.from([1 | (deviations.isUserVerified === false ? 0 : 4) | (credential.length > 0 ? 0x40 : 0)]),
      uint(deviations.counter ?? state.counter, 4),
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
    /** Builds the result of `navigator.credentials.create`, as pages of the panel send it. */
    make: (options: CreationOptions, deviations: Deviations = {}) => {
      state.userHandle = options.user.id
      const credential = Buffer.concat([Buffer.alloc(16), uint(id.length, 2), id, publicKeyBytes])
      const data = authenticatorData(deviations, credential)
      const client = clientData('webauthn.create', options, deviations)
      const attestationObject = new Map<string, CborValue>([
        ...statementOf(deviations.attestation ?? 'none', Buffer.concat([data, sha256(client)]), privateKey),
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
    /** Builds the result of `navigator.credentials.get`, as pages of the panel send it. */
    use: (options: RequestOptions, deviations: Deviations = {}) => {
      state.counter += 1
      const data = authenticatorData(deviations, Buffer.alloc(0))
      const client = clientData('webauthn.get', options, deviations)
      const signature = sign('sha256', Buffer.concat([data, sha256(client)]), privateKey)
      return {
        id: id.toString('base64url'),
        response: {
          clientDataJSON: client.toString('base64url'),
          authenticatorData: data.toString('base64url'),
          signature: signature.toString('base64url'),
          userHandle: deviations.userHandle ?? state.userHandle,
        },
      }
    },
  }
}

function statementOf(
  attestation: NonNullable<Deviations['attestation']>,
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
  switch (attestation) {
    case 'none':
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

/** Encodes the part of CBOR that authenticators write. RFC 8949. */
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
