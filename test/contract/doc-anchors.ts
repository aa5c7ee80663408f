import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../../', import.meta.url))
export const readPage = (path: string) => readFileSync(join(root, path), 'utf8')

/** Lists the anchors of a Markdown page: its headings as GitHub names them, and `<a id="…">`. */
export const anchorsIn = (text: string): string[] => [
  ...Array.from(text.matchAll(/^#+ (.+)$/gm), ([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  ),
  ...Array.from(text.matchAll(/<a id="([^"]+)"/g), ([, id = '']) => id),
]

/** Lists the ids of the rules in docs/rules.md, such as `AZ-1`. */
export const ruleIds = (): string[] =>
  Array.from(readPage('docs/rules.md').matchAll(/<a id="([a-z]+-\d+)"/g), ([, id = '']) => id.toUpperCase())
