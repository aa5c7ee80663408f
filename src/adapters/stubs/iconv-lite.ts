/**
 * Replaces `iconv-lite` in bundles, whose tables are as large as a function may be. The driver of MySQL uses it for
 * encodings that `Buffer` does not know; connections are in UTF-8, so at most a name or message is in a legacy encoding.
 */
export function getDecoder(encoding: string): { write: (bytes: Uint8Array) => string; end: () => string } {
  // MySQL's CESU-8 is UTF-8 with three bytes at most.
  const decoder = new TextDecoder(encoding === 'cesu8' ? 'utf-8' : encoding)
  return { write: (bytes) => decoder.decode(bytes, { stream: true }), end: () => decoder.decode() }
}

/** Statements are sent in UTF-8, which needs no encoder. */
export function getEncoder(encoding: string): never {
  throw new RangeError(`Statements in ${encoding} are not supported.`)
}

/** Decodes text of game queries, which have another name for Windows-1252. */
function decode(bytes: Uint8Array, encoding: string): string {
  return new TextDecoder(encoding === 'win1252' ? 'windows-1252' : encoding).decode(bytes)
}

export default { decode, getDecoder, getEncoder }
