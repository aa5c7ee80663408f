type Segment = { text: string; isValue: boolean }

/**
 * Fills the `{{key}}` placeholders of an egg's template in one pass. `resolve` returns a value, or null to
 * leave the placeholder to the daemon. Values can never form a placeholder for the daemon: their double braces
 * become `{ {`, also together with braces of the template or of another value.
 */
export function fillPlaceholders(template: string, resolve: (key: string) => string | null): string {
  const segments: Segment[] = []
  let position = 0
  for (const match of template.matchAll(/\{\{([\w.-]+)\}\}/g)) {
    const value = resolve(match[1] ?? '')
    if (value === null) continue
    segments.push({ text: template.slice(position, match.index), isValue: false })
    segments.push({ text: value, isValue: true })
    position = match.index + match[0].length
  }
  segments.push({ text: template.slice(position), isValue: false })
  return joinSafely(segments)
}

function joinSafely(segments: Segment[]): string {
  const text = segments.map((segment) => segment.text).join('')
  if (!text.includes('{{')) return text
  const fromValue = segments.flatMap((segment) => Array<boolean>(segment.text.length).fill(segment.isValue))
  let joined = ''
  for (let index = 0; index < text.length; index += 1) {
    joined += text[index]
    if (text.startsWith('{{', index) && containsValue(text, index, fromValue)) joined += ' '
  }
  return joined
}

/** Whether the braces at `index`, or the daemon's placeholder that they open, include text of a value. */
function containsValue(text: string, index: number, fromValue: boolean[]): boolean {
  const placeholder = /\{\{\s*config\.[^{}]*\}{0,2}/y
  placeholder.lastIndex = index
  const end = placeholder.exec(text) ? placeholder.lastIndex : index + 2
  return fromValue.slice(index, end).includes(true)
}
