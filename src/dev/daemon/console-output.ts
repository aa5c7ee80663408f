import { stripVTControlCharacters } from 'node:util'

const maxLineLength = 64 * 1024
const maxKeptLines = 150

/** Appends a line to a server's log, which keeps the last 150 lines. */
export function appendLine(lines: string[], line: string): void {
  lines.push(line)
  if (lines.length > maxKeptLines) lines.splice(0, lines.length - maxKeptLines)
}

export type LineReader = { write: (chunk: string) => void; end: () => void }

/** Creates a reader that splits text into lines. A line is cut at 64 Ki characters, as in Wings. */
export function createLineReader(onLine: (line: string) => void): LineReader {
  let pending = ''
  const emit = (line: string): void => onLine(line.replace(/\r$/, '').slice(0, maxLineLength))
  return {
    write: (chunk) => {
      const lines = (pending + chunk).split('\n')
      pending = (lines.pop() ?? '').slice(0, maxLineLength + 1)
      lines.forEach(emit)
    },
    end: () => {
      if (pending !== '') emit(pending)
      pending = ''
    },
  }
}

/** Creates a test for lines that mean the server has started: a substring, or a pattern after `regex:`. */
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

/** Formats a message of the daemon as Wings formats its own. */
export function daemonLine(appName: string, message: string): string {
  return `\u001b[33m\u001b[1m[${appName} Daemon]:\u001b[39m ${message}\u001b[0m`
}
