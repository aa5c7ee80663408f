/** A text with what is needed to write the file back byte for byte. */
export type TextFile = { text: string; lineBreak: '\n' | '\r\n'; hasByteOrderMark: boolean }

const byteOrderMark = '\uFEFF'

/** Decodes a file; null when it is not UTF-8 or contains NUL. */
export function readText(bytes: ArrayBuffer): TextFile | null {
  if (new Uint8Array(bytes).includes(0)) return null
  try {
    const whole = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    const hasByteOrderMark = whole.startsWith(byteOrderMark)
    const text = hasByteOrderMark ? whole.slice(1) : whole
    // A file with both line endings keeps each line as it is.
    const isWindows = text.includes('\r\n') && !/(?<!\r)\n|\r(?!\n)/.test(text)
    return { text, lineBreak: isWindows ? '\r\n' : '\n', hasByteOrderMark }
  } catch {
    return null
  }
}

/** Returns the content of the file with another text. */
export const fileText = ({ hasByteOrderMark }: Pick<TextFile, 'hasByteOrderMark'>, text: string): string =>
  hasByteOrderMark ? byteOrderMark + text : text

export const byteLength = (text: string): number => new TextEncoder().encode(text).byteLength
