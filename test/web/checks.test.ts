import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkerOf } from '../../src/web/server/editor/checks.ts'
import { jsonChecker } from '../../src/web/server/editor/check-json.ts'
import { yamlChecker } from '../../src/web/server/editor/check-yaml.ts'
import { generatedRuns, generatedSeed } from '../support/generated-runs.ts'

describe('the check of a file', () => {
  it('is there for JSON and YAML', async () => {
    expect(await checkerOf('ops.json')?.()).toBe(jsonChecker)
    expect(await checkerOf('pack.mcmeta')?.()).toBe(jsonChecker)
    expect(await checkerOf('config.YML')?.()).toBe(yamlChecker)
    expect(checkerOf('server.properties')).toBeNull()
    expect(checkerOf('json')).toBeNull()
  })

  it.each([
    ['{"a": 1,}', 8],
    ['[1 2]', 3],
    ['{"a": [1, 2', 11],
    ['{a: 1}', 1],
  ])('finds where JSON is wrong: %s', (text, position) => {
    expect(jsonChecker.findProblem(text)).toMatchObject({ position })
  })

  it('finds where YAML is wrong, and why', () => {
    expect(yamlChecker.findProblem('a: 1\nb: [1, 2\n')).toMatchObject({ position: expect.any(Number) })
    expect(yamlChecker.findProblem('a: 1\na: 2\n')).toEqual({
      position: 5,
      reason: 'Map keys must be unique',
    })
    expect(yamlChecker.findProblem('a: 1\n---\nb: 2\n')).toBeNull()
    expect(yamlChecker.findProblem('')).toBeNull()
  })
})

describe('formatting JSON', () => {
  it('changes white space alone', () => {
    expect(jsonChecker.format('{"a":[1,{"b":12345678901234567890}],"c":{},"d":[],"e":"x: {\\"y"}\n')).toBe(
      '{\n  "a": [\n    1,\n    {\n      "b": 12345678901234567890\n    }\n  ],\n  "c": {},\n  "d": [],\n  "e": "x: {\\"y"\n}\n',
    )
    expect(jsonChecker.format('{\n    "a": 1 }')).toBe('{\n    "a": 1\n}')
    expect(jsonChecker.format('1.0')).toBe('1.0')
  })

  it('keeps the value of any JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value)
        expect(jsonChecker.format(text)).toBe(JSON.stringify(value, null, 2))
      }),
      { numRuns: generatedRuns({ few: 200, all: 5000 }), ...generatedSeed() },
    )
  })
})

describe('formatting YAML', () => {
  it('keeps comments, quotes, numbers and the place of lists', () => {
    const text =
      '# Top\nserver:   {port: 25565,  motd: "A: b"}\nlist:\n- 1.0   # one\n- yes\n\nlong: 12345678901234567890\n'
    expect(yamlChecker.format(text)).toBe(
      '# Top\nserver: { port: 25565, motd: "A: b" }\nlist:\n- 1.0 # one\n- yes\n\nlong: 12345678901234567890\n',
    )
  })

  it('keeps several documents', () => {
    expect(yamlChecker.format('a:   1\n---\nb:   2\n')).toBe('a: 1\n---\nb: 2\n')
  })

  it('refuses aliases that unfold without end', () => {
    const levels = Array.from({ length: 9 }, (_, at) => `l${at + 1}: &l${at + 1} [${`*l${at}, `.repeat(9)}]`)
    expect(yamlChecker.format(`l0: &l0 [x]\n${levels.join('\n')}\n`)).toBeNull()
  })
})
