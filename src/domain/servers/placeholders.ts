type Segment = { text: string; isValue: boolean }
/** The text before each placeholder, its key as a whole and in parts, and the text behind the last one. */
type Template = {
  parts: { before: string; placeholder: string; key: string; path: string[] }[]
  rest: string
}

/**
 * Fills the `{{key}}` placeholders of an egg's template in one pass. `resolve` gets the parts of the key and returns a
 * value, or null to leave the placeholder to the daemon. Values can never form a placeholder for the daemon: their double
 * braces become `{ {`, also together with braces of the template or of another value.
 */
export function fillPlaceholders(template: string, resolve: (path: string[]) => string | null): string {
  const { parts, rest } = parseTemplate(template)
  let text = ''
  for (const { before, placeholder, path } of parts) text += before + (resolve(path) ?? placeholder)
  text += rest
  return text.includes('{{') ? joinSafely(segmentsOf({ parts, rest }, resolve)) : text
}

function segmentsOf({ parts, rest }: Template, resolve: (path: string[]) => string | null): Segment[] {
  const segments: Segment[] = []
  for (const { before, placeholder, path } of parts) {
    const value = resolve(path)
    segments.push({ text: value === null ? before + placeholder : before, isValue: false })
    if (value !== null) segments.push({ text: value, isValue: true })
  }
  return [...segments, { text: rest, isValue: false }]
}

/** Templates of eggs and startup commands, which many servers share. */
const parsedTemplates = new Map<string, Template>()
const maxParsedTemplates = 1000
/** Longer ones are not kept. */
const maxKeptLength = 1000

/** The template before: to compare takes less than to look up a text that PostgreSQL has just sent. */
let last: { template: string; parsed: Template } | null = null

/** Returns where a text has `{{key}}` placeholders. */
export function parseTemplate(template: string): Template {
  if (last?.template === template) return last.parsed
  const parsed = parsedTemplates.get(template) ?? findPlaceholders(template)
  if (template.length <= maxKeptLength) last = { template, parsed }
  return parsed
}

function findPlaceholders(template: string): Template {
  const parts: Template['parts'] = []
  let position = 0
  for (const match of template.matchAll(/\{\{([\w.-]+)\}\}/g)) {
    const [placeholder, key = ''] = match
    parts.push({ before: template.slice(position, match.index), placeholder, key, path: key.split('.') })
    position = match.index + placeholder.length
  }
  const parsed = { parts, rest: template.slice(position) }
  if (template.length > maxKeptLength) return parsed
  if (parsedTemplates.size >= maxParsedTemplates) parsedTemplates.clear()
  parsedTemplates.set(template, parsed)
  return parsed
}

function joinSafely(segments: Segment[]): string {
  const text = segments.map((segment) => segment.text).join('')
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
