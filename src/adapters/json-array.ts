/** Where the text is: how deep in brackets, and whether in a string. */
type Position = { depth: number; isInString: boolean; isEscaped: boolean }

/**
 * Yields the elements of a JSON array in batches, as its UTF-8 text arrives, and keeps only the text of the
 * element that is not complete yet. Throws a `SyntaxError` when the text is not an array.
 */
export async function* splitJsonArray(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<unknown[], void> {
  const decoder = new TextDecoder()
  const position: Position = { depth: 0, isInString: false, isEscaped: false }
  let state: 'before' | 'inside' | 'after' = 'before'
  let rest = ''
  for await (const chunk of chunks) {
    let text = decoder.decode(chunk, { stream: true })
    if (state === 'before') {
      text = text.trimStart()
      if (text === '') continue
      if (!text.startsWith('[')) throw new SyntaxError('The text is not a JSON array.')
      text = text.slice(1)
      state = 'inside'
      position.depth = 1
    }
    const end = findLastSeparator(text, position)
    if (end !== null) {
      yield parseElements(rest + text.slice(0, end))
      rest = text.slice(end + 1)
    } else rest += text
    if (position.depth > 0) continue
    if (rest.trim() !== '') throw new SyntaxError('The JSON array is followed by other text.')
    state = 'after'
  }
  if (state !== 'after') throw new SyntaxError('The JSON array has no end.')
}

const parseElements = (text: string) => JSON.parse(`[${text}]`) as unknown[]

/** The codes of the characters that matter for the end of an element. */
const [quote, backslash, comma] = [0x22, 0x5c, 0x2c]
const [openBracket, closeBracket, openBrace, closeBrace] = [0x5b, 0x5d, 0x7b, 0x7d]

/**
 * Moves the position to the end of the text, or of the array. Returns the index of the last comma between elements,
 * or of the bracket that ends the array; null when the text ends within the first element.
 */
function findLastSeparator(text: string, position: Position): number | null {
  let { depth, isInString, isEscaped } = position
  let separator: number | null = null
  for (let at = 0; at < text.length && depth > 0; at += 1) {
    const code = text.charCodeAt(at)
    if (isInString) {
      if (isEscaped) isEscaped = false
      else if (code === backslash) isEscaped = true
      else if (code === quote) isInString = false
    } else if (code === quote) isInString = true
    else if (code === openBracket || code === openBrace) depth += 1
    else if (code === closeBracket || code === closeBrace) {
      depth -= 1
      if (depth > 0) continue
      if (code !== closeBracket) throw new SyntaxError('The JSON array ends with another bracket.')
      separator = at
    } else if (code === comma && depth === 1) separator = at
  }
  Object.assign(position, { depth, isInString, isEscaped })
  return separator
}
