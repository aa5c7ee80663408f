import { beforeEach, vi } from 'vitest'
import { setLogLevel } from '../../src/log.ts'

/** The lines that the panel logged in this test, parsed as JSON; `text` is the whole log. */
export type LogLines = { lines: () => Record<string, any>[]; text: () => string }

/** Records what each test of this file logs, from level `info`. */
export function useLogLines(): LogLines {
  let written: string[] = []
  beforeEach(() => {
    written = []
    setLogLevel('info')
    for (const method of ['log', 'warn', 'error'] as const) {
      vi.spyOn(console, method).mockImplementation(
        (...words) => void written.push(words.map(String).join(' ')),
      )
    }
  })
  return {
    lines: () => written.map((line) => JSON.parse(line) as Record<string, any>),
    text: () => written.join('\n'),
  }
}
