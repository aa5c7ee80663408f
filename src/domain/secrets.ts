import { hash, timingSafeEqual } from 'node:crypto'
import type { KeyRing, Panel } from '../panel.ts'

const encoder = new TextEncoder()

/**
 * Columns with encrypted secrets, by their names in the database. `domain/operations/rotate-keys.ts` tells
 * how each is read and written.
 */
type EncryptedColumns = {
  nodes: 'daemon_token' | 'previous_token'
  users: 'totp_secret'
  databases: 'password'
  database_hosts: 'password'
  settings: 'value'
  sessions: 'data'
}
type LocationsIn<Table extends keyof EncryptedColumns> = {
  table: Table
  column: EncryptedColumns[Table]
  row: string
}

/** Where a secret is stored; it can be decrypted only for the same location. */
export type SecretLocation = { [Table in keyof EncryptedColumns]: LocationsIn<Table> }[keyof EncryptedColumns]

/** The column of a location, as `table.column`. */
export type EncryptedColumn = {
  [Table in keyof EncryptedColumns]: `${Table}.${EncryptedColumns[Table]}`
}[keyof EncryptedColumns]

/**
 * Encrypts a secret for its location (AES-256-GCM), as `<key id>.<nonce>.<ciphertext>` in base64url. `row`
 * must never change: use the row's uuid or another natural key.
 */
export async function encrypt(
  panel: Pick<Panel, 'keys'>,
  secret: string,
  location: SecretLocation,
): Promise<string> {
  const [newest] = panel.keys
  if (!newest) throw new Error('There is no key to encrypt secrets with.')
  const nonce = crypto.getRandomValues(new Uint8Array(12))
  const encrypted = await crypto.subtle.encrypt(
    aesGcmParams(nonce, location),
    newest.key,
    encoder.encode(secret),
  )
  return [newest.id, toBase64Url(nonce), toBase64Url(new Uint8Array(encrypted))].join('.')
}

/** Decrypts a secret of this location. Throws when it was altered or moved, or its key is unknown. */
export async function decrypt(
  panel: Pick<Panel, 'keys'>,
  encrypted: string,
  location: SecretLocation,
): Promise<string> {
  const [id, nonce, ciphertext] = encrypted.split('.')
  const key = panel.keys.find((candidate) => candidate.id === id)?.key
  if (!key || !nonce || !ciphertext)
    throw new Error(`A secret in ${location.table} cannot be decrypted: its key is unknown.`)
  const decrypted = await crypto.subtle.decrypt(
    aesGcmParams(fromBase64Url(nonce), location),
    key,
    fromBase64Url(ciphertext),
  )
  return new TextDecoder().decode(decrypted)
}

const keptSecrets = new WeakMap<KeyRing, Map<string, string>>()
/** Secrets that a process keeps, those used last. */
const maxKeptSecrets = 2000

/**
 * Decrypts as `decrypt` does, and keeps the last 2,000 secrets of a process by what they are decrypted from: one that was
 * replaced comes from the database as another text.
 */
export async function decryptKept(
  panel: Pick<Panel, 'keys'>,
  encrypted: string,
  location: SecretLocation,
): Promise<string> {
  const secrets = keptSecrets.get(panel.keys) ?? new Map<string, string>()
  keptSecrets.set(panel.keys, secrets)
  const name = `${location.table}/${location.column}/${location.row}/${encrypted}`
  const secret = secrets.get(name) ?? (await decrypt(panel, encrypted, location))
  // The order of a map is that of insertion: the first one was not used for the longest time.
  secrets.delete(name)
  secrets.set(name, secret)
  const [oldest] = secrets.keys()
  if (secrets.size > maxKeptSecrets && oldest !== undefined) secrets.delete(oldest)
  return secret
}

/** Imports keys from `<id>:<32 bytes in base64>`, separated by commas, newest first. */
export async function importKeyRing(configured: string): Promise<KeyRing> {
  return Promise.all(
    configured.split(',').map(async (entry) => {
      const [id = '', material = ''] = entry.trim().split(':')
      const raw = fromBase64Url(material)
      if (!/^\w+$/.test(id) || raw.byteLength !== 32)
        throw new Error('An encryption key must have the form <id>:<32 bytes in base64>.')
      const key = await crypto.subtle.importKey('raw', raw, 'AES-GCM', false, ['encrypt', 'decrypt'])
      return { id, key, signingKey: await deriveSigningKey(raw) }
    }),
  )
}

/** Derives the key of signatures, so that no key has two uses. */
async function deriveSigningKey(raw: Uint8Array<ArrayBuffer>): Promise<CryptoKey> {
  const material = await crypto.subtle.importKey('raw', raw, 'HKDF', false, ['deriveKey'])
  const params = { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(), info: encoder.encode('signatures') }
  const type = { name: 'HMAC', hash: 'SHA-256', length: 256 }
  return crypto.subtle.deriveKey(params, material, type, false, ['sign', 'verify'])
}

/**
 * Signs a text for one purpose (HMAC-SHA-256), as `<key id>.<signature>` in base64url. Use it for what a
 * browser keeps: what the panel stores itself needs no signature.
 */
export async function sign(panel: Pick<Panel, 'keys'>, purpose: string, text: string): Promise<string> {
  const [newest] = panel.keys
  if (!newest) throw new Error('There is no key to sign with.')
  const signature = await crypto.subtle.sign('HMAC', newest.signingKey, signedBytes(purpose, text))
  return `${newest.id}.${toBase64Url(new Uint8Array(signature))}`
}

/** Tells, in constant time, whether the signature is that of the text for this purpose. */
export async function isSignatureOf(
  panel: Pick<Panel, 'keys'>,
  purpose: string,
  text: string,
  signature: string,
): Promise<boolean> {
  const [id, mac = ''] = signature.split('.')
  const key = panel.keys.find((candidate) => candidate.id === id)?.signingKey
  if (!key || !/^[\w-]{43}$/.test(mac)) return false
  return crypto.subtle.verify('HMAC', key, fromBase64Url(mac), signedBytes(purpose, text))
}

const signedBytes = (purpose: string, text: string) => encoder.encode(`${purpose}\n${text}`)

/** Returns the SHA-256 in hex: enough for secrets that are random. */
export const digest = (secret: string): string => hash('sha256', secret)

/** Compares two strings in constant time. */
export const equalSecrets = (one: string, other: string): boolean => equalDigests(digest(one), digest(other))

/** Compares two digests in constant time; one that is missing is different. */
export function equalDigests(one: string | undefined, other: string): boolean {
  const compared = one ?? missingDigest
  if (compared.length !== digestLength || other.length !== digestLength) return false
  encoder.encodeInto(compared, comparedBytes)
  encoder.encodeInto(other, otherBytes)
  return timingSafeEqual(comparedBytes, otherBytes)
}

/** Hexadecimal digits of SHA-256. */
const digestLength = 64
const missingDigest = '-'.repeat(digestLength)
/** Used for each comparison, since memory for its own takes as long as the rest of it. */
const [comparedBytes, otherBytes] = [new Uint8Array(digestLength), new Uint8Array(digestLength)]

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/** Generates random letters and digits, each of the 62 equally likely. */
export function randomText(length: number): string {
  let text = ''
  while (text.length < length) {
    for (const byte of crypto.getRandomValues(new Uint8Array(length))) {
      // 248 is the largest multiple of 62 in a byte: higher values would favour some characters.
      if (byte < 248 && text.length < length) text += alphabet[byte % 62]
    }
  }
  return text
}

const aesGcmParams = (nonce: Uint8Array<ArrayBuffer>, location: SecretLocation) => ({
  name: 'AES-GCM',
  iv: nonce,
  additionalData: encoder.encode(`${location.table}/${location.column}/${location.row}`),
})

const toBase64Url = (bytes: Uint8Array) =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')

const fromBase64Url = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (character) =>
    character.charCodeAt(0),
  )
