import { execFileSync } from 'node:child_process'
import { existsSync, globSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { configurationReference } from '../../src/cli/configuration-reference.ts'
import { anchorsIn, readPage as read, root } from './doc-anchors.ts'

const pages = globSync(['*.md', 'src/README.md', 'docs/**/*.md'], { cwd: root }).toSorted()

describe('docs/configuration.md', () => {
  it('is what `npm run config-reference` prints', () => {
    expect(read('docs/configuration.md')).toBe(configurationReference())
  })
})

describe('docs/compatibility.md', () => {
  it('names every route that routes.tsv does not have, with the reason', () => {
    const rows = new Set(
      read('docs/compatibility.md')
        .split('\n')
        .map((line) => line.split(' | ').map((cell) => cell.replace(/^\| | *\|?$/g, '').trim()))
        .map(([route, reason]) => `${route}\t${reason}`),
    )
    const extensions = read('test/contract/extensions.txt')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => line.split('\t'))
    expect(extensions.length).toBeGreaterThan(50)
    const missing = extensions.filter(([route, reason]) => !rows.has(`\`${route}\`\t${reason}`))
    expect(missing).toEqual([])
  })
})

const help = execFileSync(process.execPath, ['src/cli/panel.ts', '--help'], { cwd: root, encoding: 'utf8' })
const verbs = Array.from(help.matchAll(/^ {2}(\w[\w:-]*) {2}/gm), ([, verb]) => verb)

describe.each(pages)('%s', (page) => {
  const text = read(page)

  it('links to what is there', () => {
    const links = Array.from(text.matchAll(/\]\((?!https?:)([^)\s]+)\)/g), ([, link = '']) => link)
    const broken = links.filter((link) => {
      const [path = '', anchor] = link.split('#')
      const target = path === '' ? page : join(dirname(page), path)
      if (!existsSync(join(root, target))) return true
      return anchor !== undefined && !anchorsIn(read(target)).includes(anchor)
    })
    expect(broken).toEqual([])
  })

  it('names only scripts and verbs that exist', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
    const named = Array.from(
      text.matchAll(/npm run (?:-s |--silent )?([a-z][\w:-]*)/g),
      ([, name = '']) => name,
    )
    expect(named.filter((name) => !(name in scripts))).toEqual([])
    const mentioned = Array.from(text.matchAll(/panel -- ([a-z][\w:-]*)/g), ([, verb = '']) => verb)
    expect(mentioned.filter((verb) => !verbs.includes(verb))).toEqual([])
  })
})
