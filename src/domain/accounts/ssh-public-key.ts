import { createHash, createPublicKey } from 'node:crypto'

/** A parsed SSH public key. */
export type SshPublicKey = {
  /** `other` stands for types that are not examined: keys on security tokens, certificates. */
  kind: 'rsa' | 'dsa' | 'ecdsa' | 'ed25519' | 'other'
  /** Size of the modulus or of the curve; null for other types. */
  bits: number | null
  /**
   * SHA-256 of the key in base64, 43 characters without padding, as `ssh-keygen -l` shows it after
   * `SHA256:`.
   */
  fingerprint: string
  /** Type and key in base64, without the comment. */
  line: string
}

const linePattern = /^([a-z0-9][\w.@-]{2,63})[ \t]+([A-Za-z0-9+/]+={0,2})(?:[ \t][^\r\n]*)?$/
const certificatePattern = /-cert-v\d\d@/

/**
 * Parses one `authorized_keys` line without options (`ssh-ed25519 AAAA… comment`). Returns null for private
 * keys, several lines, and keys whose bytes do not match their type.
 */
export function parsePublicKey(text: string): SshPublicKey | null {
  const [, type = '', encoded = ''] = linePattern.exec(text.trim()) ?? []
  const bytes = Buffer.from(encoded, 'base64')
  if (bytes.length === 0 || bytes.toString('base64').replace(/=+$/, '') !== encoded.replace(/=+$/, ''))
    return null
  const described = describeKey(type, bytes)
  if (!described) return null
  const fingerprint = createHash('sha256').update(bytes).digest('base64').replace(/=+$/, '')
  return { ...described, fingerprint, line: `${type} ${bytes.toString('base64')}` }
}

/**
 * Converts the key to PEM (SubjectPublicKeyInfo) with CRLF line ends. Returns null when its numbers are not
 * a valid key, such as a point that is not on its curve, or when its type is not examined.
 */
export function toPem(key: SshPublicKey): string | null {
  const [name, ...fields] = readStrings(Buffer.from(key.line.split(' ')[1] ?? '', 'base64')) ?? []
  const jwk = toJwk(key.kind, fields, curves[name?.toString('latin1') ?? '']?.crv)
  if (!jwk) return null
  try {
    const pem = createPublicKey({ key: jwk, format: 'jwk' }).export({ type: 'spki', format: 'pem' })
    return pem.toString().trim().replaceAll('\n', '\r\n')
  } catch {
    return null
  }
}

function toJwk(kind: SshPublicKey['kind'], fields: Buffer[], crv: string | undefined) {
  const [first = Buffer.alloc(0), second = Buffer.alloc(0)] = fields
  if (kind === 'ed25519') return { kty: 'OKP', crv: 'Ed25519', x: first.toString('base64url') }
  if (kind === 'rsa') return { kty: 'RSA', e: unsigned(first), n: unsigned(second) }
  if (kind !== 'ecdsa' || !crv) return null
  const half = (second.length - 1) / 2
  const [x, y] = [second.subarray(1, 1 + half), second.subarray(1 + half)]
  return { kty: 'EC', crv, x: x.toString('base64url'), y: y.toString('base64url') }
}

/** Removes the leading zero of an SSH integer and encodes it in base64url. */
const unsigned = (integer: Buffer) =>
  integer.subarray(integer.findIndex((byte) => byte !== 0)).toString('base64url')

type KeyDescription = Pick<SshPublicKey, 'kind' | 'bits'>

/** Returns type and size of the key (RFC 4253, 5656, 8709), or null when it is incomplete. */
function describeKey(type: string, bytes: Buffer): KeyDescription | null {
  const [name, rest] = readString(bytes) ?? []
  if (!name || !rest || name.toString('latin1') !== type) return null
  if (certificatePattern.test(type) || !(type in keyDescribers)) {
    return rest.length > 0 ? { kind: 'other', bits: null } : null
  }
  const fields = readStrings(rest)
  return fields && (keyDescribers[type]?.(fields) ?? null)
}

const curves: Record<string, { name: string; crv: string; bits: number }> = {
  'ecdsa-sha2-nistp256': { name: 'nistp256', crv: 'P-256', bits: 256 },
  'ecdsa-sha2-nistp384': { name: 'nistp384', crv: 'P-384', bits: 384 },
  'ecdsa-sha2-nistp521': { name: 'nistp521', crv: 'P-521', bits: 521 },
}

const keyDescribers: Record<string, (fields: Buffer[]) => KeyDescription | null> = {
  'ssh-rsa': ([exponent, modulus, ...more]) =>
    exponent && modulus && more.length === 0 && bitLength(exponent) > 1 && bitLength(modulus) > 0
      ? { kind: 'rsa', bits: bitLength(modulus) }
      : null,
  'ssh-dss': ([prime, ...more]) =>
    prime && more.length === 3 ? { kind: 'dsa', bits: bitLength(prime) } : null,
  'ssh-ed25519': ([point, ...more]) =>
    point?.length === 32 && more.length === 0 ? { kind: 'ed25519', bits: 256 } : null,
  ...Object.fromEntries(Object.entries(curves).map(([type, curve]) => [type, curveDescriber(curve)])),
}

function curveDescriber({ name, bits }: { name: string; bits: number }) {
  const length = 1 + 2 * Math.ceil(bits / 8)
  return ([curve, point, ...more]: Buffer[]): KeyDescription | null => {
    const isWhole = more.length === 0 && curve?.toString('latin1') === name && point?.length === length
    // An uncompressed point: the only form that every SSH implementation must support.
    return isWhole && point[0] === 4 ? { kind: 'ecdsa', bits } : null
  }
}

/** Reads the first SSH string, which has a length of four bytes in front, and the rest. */
function readString(bytes: Buffer): [Buffer, Buffer] | null {
  if (bytes.length < 4) return null
  const end = 4 + bytes.readUInt32BE(0)
  return end > bytes.length ? null : [bytes.subarray(4, end), bytes.subarray(end)]
}

/** Reads all SSH strings, or returns null when bytes are left over. */
function readStrings(bytes: Buffer): Buffer[] | null {
  const fields: Buffer[] = []
  for (let rest = bytes; rest.length > 0;) {
    const taken = readString(rest)
    if (!taken) return null
    fields.push(taken[0])
    rest = taken[1]
  }
  return fields
}

/** Returns the bits of a positive integer without leading zeros. */
function bitLength(integer: Buffer): number {
  const at = integer.findIndex((byte) => byte !== 0)
  return at < 0 ? 0 : (integer.length - at) * 8 - Math.clz32(integer[at] ?? 0) + 24
}
