import { stripVTControlCharacters } from 'node:util'

const longestLine = 64 * 1024
const keptLines = 150

/** Appends a line to a server's log of the last 150 lines. */
export function keepLine(lines: string[], line: string): void {
  lines.push(line)
  if (lines.length > keptLines) lines.splice(0, lines.length - keptLines)
}

export type LineReader = { write: (chunk: string) => void; end: () => void }

/** Splits text into lines without their end; a line is cut at 64 KiB and the rest of it is lost, as in Wings. */
export function createLineReader(onLine: (line: string) => void): LineReader {
  let pending = ''
  const emit = (line: string): void => onLine(line.replace(/\r$/, '').slice(0, longestLine))
  return {
    write: (chunk) => {
      const lines = (pending + chunk).split('\n')
      pending = (lines.pop() ?? '').slice(0, longestLine + 1)
      lines.forEach(emit)
    },
    end: () => {
      if (pending !== '') emit(pending)
      pending = ''
    },
  }
}

/** A test for the lines that mean "started": a part of the line, or a pattern after `regex:`. */
export function createDoneMatcher(done: string[], stripAnsi: boolean): (line: string) => boolean {
  const tests = done.map((entry) => {
    const pattern = entry.startsWith('regex:') ? compile(entry.slice('regex:'.length)) : undefined
    return (line: string): boolean => (pattern ? pattern.test(line) : line.includes(entry))
  })
  return (line) => {
    const plain = stripAnsi ? stripVTControlCharacters(line) : line
    return tests.some((test) => test(plain))
  }
}

function compile(pattern: string): RegExp | undefined {
  const flags = /^\(\?([ims]+)\)/.exec(pattern)
  try {
    return new RegExp(flags ? pattern.slice(flags[0].length) : pattern, flags?.[1] ?? '')
  } catch {
    return undefined
  }
}

/** A line of the daemon itself, marked as Wings marks its own. */
export function daemonLine(appName: string, message: string): string {
  return `\u001b[33m\u001b[1m[${appName} Daemon]:\u001b[39m ${message}\u001b[0m`
}
