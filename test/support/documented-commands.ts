import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')

/** With what the commands of the pages begin, where they stand in the text. */
const programs =
  /^(?:sudo|npm|node|docker(?: compose)?|systemctl|systemd-analyze|journalctl|createdb|panel|\w+=\S+ npm) \S/

/** Lists the commands of a page: the lines of its blocks, of which some go on, and those within its text. */
export function documentedCommands(page: string): string[] {
  const text = readFileSync(join(root, page), 'utf8')
  const blocks = [...text.matchAll(/^( *)```(?:bash|sh)\n([\s\S]*?)^ *```/gm)].map(
    ([, indent = '', block = '']) => block.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  )
  const lines = blocks.flatMap((block) =>
    block
      .replaceAll(/([|\\])\n\s*/g, '$1 ')
      .split('\n')
      .map((line) => line.replace(/ {2,}# .*$/, '')),
  )
  const prose = text.replaceAll(/^ *```[\s\S]*?^ *```/gm, '')
  const inline = [...prose.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code.replaceAll(/\s+/g, ' '))
  const isCommand = (line: string) => line.trim() !== '' && !line.startsWith('#')
  return [...new Set([...lines.filter(isCommand), ...inline.filter((code) => programs.test(code))])]
}

/** Returns the only command of a page that begins like this, or is this, as it is written there. */
export function documentedCommand(page: string, beginning: string): string {
  const commands = documentedCommands(page)
  const found = commands.includes(beginning)
    ? [beginning]
    : commands.filter((line) => line.startsWith(beginning))
  const [only] = found
  if (only === undefined || found.length > 1)
    throw new Error(`${page} has ${found.length} commands that begin with ${beginning}.`)
  return only
}
