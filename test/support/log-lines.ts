import { afterEach, beforeEach, vi } from 'vitest'
import { setLogLevel } from '../../src/log.ts'

/** Lines which the panel logged in this test, read as JSON; `text` is all that it wrote. */
export type LogLines = { lines: () => Record<string, any>[]; text: () => string }

/** Keeps what each test of this file logs, everything above details. */
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
  afterEach(() => {
    setLogLevel('warn')
    vi.restoreAllMocks()
  })
  return {
    lines: () => written.map((line) => JSON.parse(line) as Record<string, any>),
    text: () => written.join('\n'),
  }
}
