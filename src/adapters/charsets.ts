/**
 * Stands in bundles for `iconv-lite`, whose tables are as large as a function may be. The driver asks it for what
 * `Buffer` cannot do; with connections in UTF-8 that is at most a name or message in one of the web's old encodings.
 */
export function getDecoder(encoding: string): { write: (bytes: Uint8Array) => string; end: () => string } {
  // What MySQL calls CESU-8 is UTF-8 of three bytes at most.
  const decoder = new TextDecoder(encoding === 'cesu8' ? 'utf-8' : encoding)
  return { write: (bytes) => decoder.decode(bytes, { stream: true }), end: () => decoder.decode() }
}

/** Statements are sent in UTF-8, for which the driver asks nobody. */
export function getEncoder(encoding: string): never {
  throw new RangeError(`Statements in ${encoding} are not supported.`)
}

/** Text in one of the web's encodings: what answers of games are read with, which call Windows-1252 by another name. */
function decode(bytes: Uint8Array, encoding: string): string {
  return new TextDecoder(encoding === 'win1252' ? 'windows-1252' : encoding).decode(bytes)
}

export default { decode, getDecoder, getEncoder }
