import { createHash, createPublicKey } from 'node:crypto'

/** A public key of SSH, read but not judged. */
export type SshPublicKey = {
  /** `other` is what may exist but is not looked into: keys on security tokens, certificates. */
  kind: 'rsa' | 'dsa' | 'ecdsa' | 'ed25519' | 'other'
  /** Size of the modulus, or of the curve; null for other kinds. */
  bits: number | null
  /** Base64 of the SHA-256 of the key, 43 characters without padding, as `ssh-keygen -l` shows it after `SHA256:`. */
  fingerprint: string
  /** Type and key in base64, without comment. */
  line: string
}

const linePattern = /^([a-z0-9][\w.@-]{2,63})[ \t]+([A-Za-z0-9+/]+={0,2})(?:[ \t][^\r\n]*)?$/
const certificatePattern = /-cert-v\d\d@/

/**
 * The public key of one `authorized_keys` line without options (`ssh-ed25519 AAAA… comment`), or null when
 * it is none: private keys, several lines, and keys whose bytes do not say what the line says are none.
 */
export function readPublicKey(text: string): SshPublicKey | null {
  const [, type = '', encoded = ''] = linePattern.exec(text.trim()) ?? []
  const bytes = Buffer.from(encoded, 'base64')
  if (bytes.length === 0 || bytes.toString('base64').replace(/=+$/, '') !== encoded.replace(/=+$/, ''))
    return null
  const described = describe(type, bytes)
  if (!described) return null
  const fingerprint = createHash('sha256').update(bytes).digest('base64').replace(/=+$/, '')
  return { ...described, fingerprint, line: `${type} ${bytes.toString('base64')}` }
}

/**
 * The key as PEM (SubjectPublicKeyInfo), its lines ended by CRLF, or null when its numbers make no key, as a
 * point beside its curve, or its kind is not looked into.
 */
export function publicKeyPem(key: SshPublicKey): string | null {
  const [name, ...fields] = fieldsOf(Buffer.from(key.line.split(' ')[1] ?? '', 'base64')) ?? []
  const jwk = jwkOf(key.kind, fields, curves[name?.toString('latin1') ?? '']?.crv)
  if (!jwk) return null
  try {
    const pem = createPublicKey({ key: jwk, format: 'jwk' }).export({ type: 'spki', format: 'pem' })
    return pem.toString().trim().replaceAll('\n', '\r\n')
  } catch {
    return null
  }
}

function jwkOf(kind: SshPublicKey['kind'], fields: Buffer[], crv: string | undefined) {
  const [first = Buffer.alloc(0), second = Buffer.alloc(0)] = fields
  if (kind === 'ed25519') return { kty: 'OKP', crv: 'Ed25519', x: first.toString('base64url') }
  if (kind === 'rsa') return { kty: 'RSA', e: unsigned(first), n: unsigned(second) }
  if (kind !== 'ecdsa' || !crv) return null
  const half = (second.length - 1) / 2
  const [x, y] = [second.subarray(1, 1 + half), second.subarray(1 + half)]
  return { kty: 'EC', crv, x: x.toString('base64url'), y: y.toString('base64url') }
}

/** SSH puts a zero in front of an integer whose first bit is set. */
const unsigned = (integer: Buffer) =>
  integer.subarray(integer.findIndex((byte) => byte !== 0)).toString('base64url')

type Description = Pick<SshPublicKey, 'kind' | 'bits'>

/** Kind and size by what follows the name of the type (RFC 4253, 5656, 8709), or null when that is not whole. */
function describe(type: string, bytes: Buffer): Description | null {
  const [name, rest] = takeField(bytes) ?? []
  if (!name || !rest || name.toString('latin1') !== type) return null
  if (certificatePattern.test(type) || !(type in described)) {
    return rest.length > 0 ? { kind: 'other', bits: null } : null
  }
  const fields = fieldsOf(rest)
  return fields && (described[type]?.(fields) ?? null)
}

const curves: Record<string, { name: string; crv: string; bits: number }> = {
  'ecdsa-sha2-nistp256': { name: 'nistp256', crv: 'P-256', bits: 256 },
  'ecdsa-sha2-nistp384': { name: 'nistp384', crv: 'P-384', bits: 384 },
  'ecdsa-sha2-nistp521': { name: 'nistp521', crv: 'P-521', bits: 521 },
}

const described: Record<string, (fields: Buffer[]) => Description | null> = {
  'ssh-rsa': ([exponent, modulus, ...more]) =>
    exponent && modulus && more.length === 0 && bitsOf(exponent) > 1 && bitsOf(modulus) > 0
      ? { kind: 'rsa', bits: bitsOf(modulus) }
      : null,
  'ssh-dss': ([prime, ...more]) => (prime && more.length === 3 ? { kind: 'dsa', bits: bitsOf(prime) } : null),
  'ssh-ed25519': ([point, ...more]) =>
    point?.length === 32 && more.length === 0 ? { kind: 'ed25519', bits: 256 } : null,
  ...Object.fromEntries(Object.entries(curves).map(([type, curve]) => [type, onCurve(curve)])),
}

function onCurve({ name, bits }: { name: string; bits: number }) {
  const length = 1 + 2 * Math.ceil(bits / 8)
  return ([curve, point, ...more]: Buffer[]): Description | null => {
    const isWhole = more.length === 0 && curve?.toString('latin1') === name && point?.length === length
    // An uncompressed point: the only form that SSH demands of everybody.
    return isWhole && point[0] === 4 ? { kind: 'ecdsa', bits } : null
  }
}

/** The first string of SSH's encoding, four bytes of length in front, and what follows it. */
function takeField(bytes: Buffer): [Buffer, Buffer] | null {
  if (bytes.length < 4) return null
  const end = 4 + bytes.readUInt32BE(0)
  return end > bytes.length ? null : [bytes.subarray(4, end), bytes.subarray(end)]
}

/** Everything as strings of that encoding, or null when it does not come out even. */
function fieldsOf(bytes: Buffer): Buffer[] | null {
  const fields: Buffer[] = []
  for (let rest = bytes; rest.length > 0;) {
    const taken = takeField(rest)
    if (!taken) return null
    fields.push(taken[0])
    rest = taken[1]
  }
  return fields
}

/** Bits of a positive integer, zeros in front not counted. */
function bitsOf(integer: Buffer): number {
  const at = integer.findIndex((byte) => byte !== 0)
  return at < 0 ? 0 : (integer.length - at) * 8 - Math.clz32(integer[at] ?? 0) + 24
}
