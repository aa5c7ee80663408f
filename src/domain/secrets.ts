import { createHash, timingSafeEqual } from 'node:crypto'
import type { KeyRing, Panel } from '../panel.ts'

const encoder = new TextEncoder()

/** Columns with sealed secrets, by their names in the database. `reseal.ts` says how each of them is read and written. */
type SealedColumns = {
  nodes: 'daemon_token' | 'previous_token'
  users: 'totp_secret'
  databases: 'password'
  database_hosts: 'password'
  settings: 'value'
  sessions: 'data'
}
type PlacesIn<Table extends keyof SealedColumns> = { table: Table; column: SealedColumns[Table]; row: string }

/** Where a secret is stored: it opens nowhere else. */
export type SecretPlace = { [Table in keyof SealedColumns]: PlacesIn<Table> }[keyof SealedColumns]

/** The column of a place, as `table.column`. */
export type SealedColumn = {
  [Table in keyof SealedColumns]: `${Table}.${SealedColumns[Table]}`
}[keyof SealedColumns]

/**
 * The secret sealed for its place (AES-256-GCM), as `<key id>.<nonce>.<ciphertext>` in base64url.
 * `row` must never change: use the row's uuid or another natural key.
 */
export async function seal(panel: Pick<Panel, 'keys'>, secret: string, place: SecretPlace): Promise<string> {
  const [newest] = panel.keys
  if (!newest) throw new Error('There is no key to seal secrets with.')
  const nonce = crypto.getRandomValues(new Uint8Array(12))
  const sealed = await crypto.subtle.encrypt(algorithm(nonce, place), newest.key, encoder.encode(secret))
  return [newest.id, toBase64Url(nonce), toBase64Url(new Uint8Array(sealed))].join('.')
}

/** The secret that was sealed for this place. Throws when it was altered, moved, or its key is gone. */
export async function open(panel: Pick<Panel, 'keys'>, sealed: string, place: SecretPlace): Promise<string> {
  const [id, nonce, ciphertext] = sealed.split('.')
  const key = panel.keys.find((candidate) => candidate.id === id)?.key
  if (!key || !nonce || !ciphertext)
    throw new Error(`A secret in ${place.table} cannot be opened: its key is unknown.`)
  const opened = await crypto.subtle.decrypt(
    algorithm(fromBase64Url(nonce), place),
    key,
    fromBase64Url(ciphertext),
  )
  return new TextDecoder().decode(opened)
}

/** Keys from their configured form, `<id>:<32 bytes in base64>` joined by commas, newest first. */
export async function importKeyRing(configured: string): Promise<KeyRing> {
  return Promise.all(
    configured.split(',').map(async (entry) => {
      const [id = '', material = ''] = entry.trim().split(':')
      const raw = fromBase64Url(material)
      if (!/^\w+$/.test(id) || raw.byteLength !== 32)
        throw new Error('A key is not of the form <id>:<32 bytes in base64>.')
      return { id, key: await crypto.subtle.importKey('raw', raw, 'AES-GCM', false, ['encrypt', 'decrypt']) }
    }),
  )
}

/** SHA-256 in hex: enough for secrets that are themselves random. */
export const digest = (secret: string): string => createHash('sha256').update(secret).digest('hex')

/** Whether two strings are equal, in a time that does not tell where they differ. */
export const equalSecrets = (one: string, other: string): boolean =>
  timingSafeEqual(createHash('sha256').update(one).digest(), createHash('sha256').update(other).digest())

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/** Random letters and digits, each of the 62 equally likely. */
export function randomText(length: number): string {
  let text = ''
  while (text.length < length) {
    for (const byte of crypto.getRandomValues(new Uint8Array(length))) {
      // 248 is the largest multiple of 62 in a byte: what lies above would favour some characters.
      if (byte < 248 && text.length < length) text += alphabet[byte % 62]
    }
  }
  return text
}

const algorithm = (nonce: Uint8Array<ArrayBuffer>, place: SecretPlace) => ({
  name: 'AES-GCM',
  iv: nonce,
  additionalData: encoder.encode(`${place.table}/${place.column}/${place.row}`),
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
