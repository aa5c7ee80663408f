const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
const characters: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

/** A text as it stands between tags. */
export const escapeXml = (text: string) => text.replace(/[&<>"]/g, (letter) => entities[letter] ?? letter)

/** An element around what is XML already. */
export const element = (name: string, ...content: string[]) => `<${name}>${content.join('')}</${name}>`

/** An element around a text. */
export const textElement = (name: string, text: string | number) => element(name, escapeXml(String(text)))

/** A document whose root has this content, as an answer. */
export function xmlAnswer(status: number, root: string, ...content: string[]): Response {
  const document = `<?xml version="1.0" encoding="UTF-8"?>\n${element(root, ...content)}`
  return new Response(document, { status, headers: { 'content-type': 'application/xml' } })
}

/** The contents of every element of this name, one after the other; none of them may hold another. */
export function contentsOf(xml: string, name: string): string[] {
  return [...xml.matchAll(new RegExp(`<${name}(?:\\s[^>]*)?>(.*?)</${name}>`, 'gs'))].map(
    ([, content = '']) => content,
  )
}

/** A text as it was before it stood between tags. */
export const unescapeXml = (text: string) =>
  text.replace(/&(?:#(\d+)|#x([\da-f]+)|(\w+));/gi, (whole, decimal, hexadecimal, name) => {
    if (name) return characters[name] ?? whole
    const point = decimal ? Number(decimal) : Number.parseInt(hexadecimal, 16)
    return point <= 0x10ffff ? String.fromCodePoint(point) : whole
  })
