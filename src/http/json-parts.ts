import { encodeText, type JsonBytes } from './json-bytes.ts'

/** JSON that many rows share, up to where each has a value of its own, which `key` names; the last part has none. */
type JsonPart = { before: Uint8Array; key: string | null }

/** Marks where rows have a value of their own; no text of PostgreSQL has this character. */
export const placeOf = (key: string): string => `\0${key}\0`
const places = /"\\u0000(.*?)\\u0000"/s

/** Writes a document, cut at its places. */
function jsonParts(document: unknown): JsonPart[] {
  const texts = JSON.stringify(document).split(places)
  const parts: JsonPart[] = []
  for (let at = 0; at < texts.length; at += 2) {
    const key = texts[at + 1]
    parts.push({
      before: encodeText(texts[at] ?? ''),
      key: key === undefined ? null : (JSON.parse(`"${key}"`) as string),
    })
  }
  return parts
}

/** Returns what encodes something of an owner, such as an egg, once for all rows that have it. */
export function encodedOnce<Owner extends object>(
  encode: (owner: Owner) => Uint8Array,
): (owner: Owner) => Uint8Array {
  const encoded = new WeakMap<Owner, Uint8Array>()
  return (owner) => {
    const known = encoded.get(owner)
    if (known) return known
    const bytes = encode(owner)
    encoded.set(owner, bytes)
    return bytes
  }
}

/** Documents that are kept of an owner, which can outlive a request. */
const maxDocuments = 50

/**
 * Returns what gives the parts of a document of an owner, such as an egg: `document` is built once for the rows that have
 * the same `names`.
 */
export function sharedParts<Owner extends object>(
  document: (owner: Owner, names: string[]) => unknown,
): (owner: Owner, names: string[]) => JsonPart[] {
  const owners = new WeakMap<Owner, { names: string[]; parts: JsonPart[] }[]>()
  return (owner, names) => {
    let documents = owners.get(owner)
    if (!documents) owners.set(owner, (documents = []))
    // PostgreSQL keeps names in one order.
    const known = documents.find((each) => isSame(each.names, names))
    if (known) return known.parts
    const parts = jsonParts(document(owner, names))
    if (documents.length >= maxDocuments) documents.length = 0
    documents.push({ names, parts })
    return parts
  }
}

const isSame = (names: string[], others: string[]): boolean =>
  names.length === others.length && names.every((name, at) => name === others[at])

/** Adds parts with the values of a row between them. */
export function writeParts(
  bytes: JsonBytes,
  parts: JsonPart[],
  valueOf: (key: string) => string | null,
): void {
  for (const { before, key } of parts) {
    bytes.value(before)
    if (key !== null) bytes.value(valueOf(key))
  }
}
