import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))
const read = (path: string) => readFileSync(`${root}${path}`, 'utf8')
const readme = read('README.md')
/** Lists the rows of the tables in one chapter of the README. */
const rowsOf = (chapter: string) =>
  (readme.split(`\n## ${chapter}\n`)[1]?.split('\n## ')[0] ?? '')
    .split('\n')
    .filter((line) => line.startsWith('| `'))
/** Lists the names in backticks of the first cell, or of each. */
const codesIn = (text: string) => Array.from(text.matchAll(/`([^`]+)`/g), ([, code = '']) => code)
const firstCell = (row: string) => row.split(' | ')[0] ?? ''

describe('the README', () => {
  it('names every command but those that others run, and `format`', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
    const parts = [
      'prepare',
      'format',
      // CONTRIBUTING.md lists what tests there are.
      ...Array.from(read('CONTRIBUTING.md').matchAll(/^\| `npm run (test:\w+)`/gm), ([, name]) => name),
      ...Array.from((scripts.check ?? '').matchAll(/npm run (\S+)/g), ([, name]) => name),
    ]
    const named = rowsOf('Commands')
      .flatMap((row) => codesIn(firstCell(row)))
      .map((code) => /^(?:npm (?:run )?)?([\w:-]+)/.exec(code)?.[1])
    expect(new Set(named)).toEqual(new Set(Object.keys(scripts).filter((name) => !parts.includes(name))))
  })

  it('names every verb of the command line', () => {
    const help = execFileSync(process.execPath, ['src/cli/panel.ts', '--help'], {
      cwd: root,
      encoding: 'utf8',
    })
    const verbs = Array.from(help.matchAll(/^ {2}(\w[\w:-]*) {2}/gm), ([, verb]) => verb)
    const row = rowsOf('Commands').find((line) => line.includes('<verb>')) ?? ''
    expect(new Set(codesIn(row).filter((code) => !/ |--/.test(code)))).toEqual(new Set(verbs))
  })
})
