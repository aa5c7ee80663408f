/** A file as text, with what is needed to write the same bytes again. */
export type TextFile = { text: string; lineBreak: '\n' | '\r\n'; hasMark: boolean }

const byteOrderMark = '\uFEFF'

/** The text of a file; null when it is none: not UTF-8, or with a NUL in it. */
export function readText(bytes: ArrayBuffer): TextFile | null {
  if (new Uint8Array(bytes).includes(0)) return null
  try {
    const whole = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    const hasMark = whole.startsWith(byteOrderMark)
    const text = hasMark ? whole.slice(1) : whole
    // A file that mixes both is taken line by line as it is.
    const isWindows = text.includes('\r\n') && !/(?<!\r)\n|\r(?!\n)/.test(text)
    return { text, lineBreak: isWindows ? '\r\n' : '\n', hasMark }
  } catch {
    return null
  }
}

/** The file with another text. */
export const fileText = ({ hasMark }: Pick<TextFile, 'hasMark'>, text: string): string =>
  hasMark ? byteOrderMark + text : text

export const byteLength = (text: string): number => new TextEncoder().encode(text).byteLength
