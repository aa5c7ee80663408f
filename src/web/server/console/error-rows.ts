import type { IBuffer } from '@xterm/xterm'
import { ownLevel } from './line-level.ts'

/** Finds the nearest row at which an error begins, from a row on (exclusive), downwards or upwards. */
export function findErrorRow(buffer: IBuffer, from: number, step: 1 | -1): number | null {
  for (let row = from + step; row >= 0 && row < buffer.length; row += step) {
    const line = buffer.getLine(row)
    if (line && !line.isWrapped && ownLevel(line.translateToString(true)) === 'error') return row
  }
  return null
}
