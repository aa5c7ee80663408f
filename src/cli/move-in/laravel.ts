import { createDecipheriv, createHmac, timingSafeEqual } from 'node:crypto'

/** Keys of the old panel, the current one first. */
export type AppKeys = readonly Buffer[]

/** A stored value that no key of the old panel decrypts. */
export class UnreadableSecretError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'UnreadableSecretError'
  }
}

/** Parses values of APP_KEY, `base64:` and 32 bytes or 32 plain characters. Refuses other lengths. */
export function parseAppKeys(texts: readonly string[]): AppKeys {
  return texts.map((text) => {
    const trimmed = text.trim().replace(/^(["'])(.*)\1$/, '$2')
    const key = trimmed.startsWith('base64:') ? Buffer.from(trimmed.slice(7), 'base64') : Buffer.from(trimmed)
    if (key.byteLength !== 32)
      throw new Error('An APP_KEY has 32 bytes, mostly written as base64:… with 44 characters.')
    return key
  })
}

/**
 * Decrypts a column of the old panel: base64 of JSON with iv, value and mac, AES-256-CBC, with or without serialisation
 * by PHP. Throws an `UnreadableSecretError` for a value that was never encrypted, is torn, or has another key.
 */
export function decryptColumn(keys: AppKeys, stored: string): string {
  const { iv, value, mac } = parsePayload(stored)
  const expected = Buffer.from(mac, 'hex')
  const key = keys.find((candidate) => {
    const actual = createHmac('sha256', candidate)
      .update(iv + value)
      .digest()
    return actual.byteLength === expected.byteLength && timingSafeEqual(actual, expected)
  })
  if (!key) throw new UnreadableSecretError('has another key than APP_KEY and APP_PREVIOUS_KEYS')
  const decipher = createDecipheriv('aes-256-cbc', key, Buffer.from(iv, 'base64'))
  const plain = Buffer.concat([decipher.update(Buffer.from(value, 'base64')), decipher.final()])
  return unserialise(plain)
}

function parsePayload(stored: string): { iv: string; value: string; mac: string } {
  try {
    const payload = JSON.parse(Buffer.from(stored, 'base64').toString('utf8')) as Record<string, unknown>
    const { iv, value, mac } = payload
    if (typeof iv === 'string' && typeof value === 'string' && typeof mac === 'string')
      return { iv, value, mac }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  throw new UnreadableSecretError('is not an encrypted value, or is torn')
}

/** Returns the text of `s:<bytes>:"…";`, and other text as it is. */
function unserialise(plain: Buffer): string {
  const text = plain.toString('utf8')
  const [whole = '', length] = /^s:(\d+):"/.exec(text) ?? []
  const inner = plain.subarray(whole.length, -2)
  return length !== undefined && text.endsWith('";') && inner.byteLength === Number(length)
    ? inner.toString('utf8')
    : text
}
