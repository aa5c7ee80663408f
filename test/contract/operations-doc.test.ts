import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const read = (path: string) => readFileSync(path, 'utf8')
const codesIn = (text: string) => Array.from(text.matchAll(/`([^`]+)`/g), ([, code = '']) => code)
/** Lists the names in backticks in the first cells of the tables of one chapter. */
const namesIn = (chapter: string) =>
  (read('docs/operations.md').split(`\n## ${chapter}\n`)[1]?.split('\n## ')[0] ?? '')
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .flatMap((line) => codesIn(line.split(' | ')[0] ?? ''))
const matches = (path: string, pattern: RegExp) =>
  Array.from(read(path).matchAll(pattern), ([, name]) => name)

describe('what is said about operating', () => {
  it('names every field of the log', () => {
    const allowed = /const allowedFields = \[(.*?)\]/s.exec(read('src/log.ts'))?.[1] ?? ''
    const fields = Array.from(allowed.matchAll(/'(\w+)'/g), ([, name]) => name)
    expect(fields).toContain('request')
    expect(new Set(namesIn('Log'))).toEqual(new Set(['time', 'level', 'message', ...fields]))
  })

  it('names every metric', () => {
    expect(new Set(namesIn('Metrics'))).toEqual(new Set(matches('src/metrics.ts', /^ {2}(roost_\w+): \{/gm)))
  })

  it('names every part of the health report', () => {
    expect(new Set(namesIn('Health'))).toEqual(
      new Set(matches('src/surfaces/monitoring.ts', /^ {6}(\w+): ServiceState\(\)/gm)),
    )
  })

  it('quotes lines that the panel writes', () => {
    const quoted = Array.from(read('docs/operations.md').matchAll(/log: `([^`]+)`/g), ([, text = '']) => text)
    const sources = [
      'http/errors',
      'http/throttle',
      'platform/deferred-work',
      'platform/open-panel',
      'platform/cloud-services',
      'platform/schema-guard',
    ]
      .concat(['domain/jobs/outcomes', 'domain/activity/daemon-reports', 'domain/jobs/queue-messages'])
      .map((name) => read(`src/${name}.ts`))
      .join('\n')
    expect(quoted.length).toBeGreaterThan(4)
    expect(quoted.filter((text) => !sources.includes(`'${text}'`))).toEqual([])
  })
})
