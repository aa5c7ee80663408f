import type { IBuffer, ILink, ILinkProvider, Terminal } from '@xterm/xterm'
import { pathsIn } from './paths-in-text.ts'

/** Opens a file that a line names; null where the user may not. */
export type OpenFile = ((path: string) => void) | null

/** Rows that a line may take; the rest of a longer one has no links. */
const maxRows = 20

/** Makes the paths of files links, where `openFile` returns how they are opened. Called for the row under the pointer. */
export const pathLinks = (xterm: Terminal, openFile: () => OpenFile): ILinkProvider => ({
  provideLinks: (row, callback) => {
    const open = openFile()
    callback(open ? linksIn(xterm, row - 1, open) : undefined)
  },
})

function linksIn(xterm: Terminal, row: number, open: NonNullable<OpenFile>): ILink[] {
  const { cols } = xterm
  const { first, text } = lineAround(xterm.buffer.active, row)
  const positionOf = (at: number) => ({ x: (at % cols) + 1, y: first + Math.floor(at / cols) + 1 })
  return pathsIn(text).map(({ path, start, end }) => ({
    text: text.slice(start, end),
    range: { start: positionOf(start), end: positionOf(end - 1) },
    activate: () => open(path),
  }))
}

/** Joins the rows over which a line is wrapped. */
function lineAround(buffer: IBuffer, row: number): { first: number; text: string } {
  let first = row
  while (first > 0 && row - first < maxRows && buffer.getLine(first)?.isWrapped) first -= 1
  let text = buffer.getLine(first)?.translateToString(false) ?? ''
  for (let next = first + 1; next - first < maxRows && buffer.getLine(next)?.isWrapped; next += 1)
    text += buffer.getLine(next)?.translateToString(false) ?? ''
  return { first, text }
}
