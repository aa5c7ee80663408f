import { describe, expect, it } from 'vitest'
import { parseDelimitedPattern } from '../../src/domain/eggs/rule-pattern.ts'
import { parseRuleParameters, splitRules } from '../../src/domain/eggs/rule-syntax.ts'
import { ruleProblems, validateVariable } from '../../src/domain/eggs/rules.ts'

const failed = async (rules: string, value: string | null) =>
  (await validateVariable(rules, value)).map((each) => each.rule)

/** Rules, values they accept, values they refuse. */
const cases: [rules: string, accepted: (string | null)[], refused: (string | null)[]][] = [
  ['required', ['a', '0'], [null, '', '   ', '\t\n']],
  ['filled', ['a'], ['', null]],
  ['present', ['a', '', null], []],
  ['', ['anything', '', null], []],
  ['nullable|string', ['a', '', null], []],
  ['nullable:string|in:a', ['a', '', null], ['b']],
  ['sometimes|string', ['a'], [null]],
  ['string', ['a', ' '], [null, '']],
  ['string|max:3', ['abc', '999', 'äöü', '🦆🦆🦆'], ['abcd', '1000', '🦆🦆🦆🦆']],
  ['numeric|max:3', ['3', '-10', '2.99'], ['3.01', '10']],
  ['integer|max:100', ['100', '5'], ['101']],
  ['string|min:3', ['abc', '123'], ['ab', '99']],
  ['numeric|min:3', ['3', '99'], ['2.5']],
  ['required|between:3,5', ['abc', '12345'], ['ab', '123456', '4']],
  ['required|integer|between:3,5', ['3', '5'], ['2', '6', '123']],
  ['size:4', ['abcd', '1234'], ['4', 'abcde']],
  ['int|size:4', ['4'], ['1234']],
  ['in:a,b', ['a', 'b'], ['c', 'A', 'a,b', '']],
  ['in:,beta', ['beta', '', null], ['alpha']],
  ['in:1', ['1'], ['01', '1.0']],
  ['in:True,False', ['True', 'False'], ['true']],
  ['in:"a,b",c', ['a,b', 'c'], ['a', 'b']],
  ['in:"say ""hi"""', ['say "hi"'], ['say hi']],
  ['not_in:a,b', ['c'], ['a', 'b']],
  ['boolean', ['1', '0'], ['true', 'false', 'yes', '2', '']],
  ['bool', ['1'], ['on']],
  ['numeric', ['1', '-1', '+1', '1.5', '.5', '1.', '1e3'], ['', 'a', '1,5', '0x10', '1 ', '--1', '.']],
  [
    'integer',
    ['0', '-5', '+5', '9223372036854775807'],
    ['1.0', '007', '1e3', '9223372036854775808', '', ' 1'],
  ],
  ['int', ['12'], ['twelve']],
  ['digits:3', ['123', '007'], ['12', '1234', '-12', '1.2']],
  ['digits_between:2,4', ['12', '0001'], ['1', '12345', '12a', '-12']],
  ['alpha', ['abc', 'Ünïcödé', '日本'], ['abc1', 'a b', '']],
  ['alpha:ascii', ['abc'], ['ünï']],
  ['alpha_num', ['abc1', 'é2', '٣'], ['a-b', 'a_b', 'a b']],
  ['alpha_dash', ['a-b_c1', 'ñandú-1'], ['a b', 'a.b', 'a/b']],
  ['AlphaDash', ['a-b'], ['a b']],
  [
    'url',
    ['https://example.org/x?y=1', 'ftp://example.org'],
    ['example.org', 'http://', '//x', 'mailto:a@b.c', 'https://a b'],
  ],
  ['url:https', ['https://example.org'], ['http://example.org']],
  ['gt:0', ['1', '0.5'], ['0', '-1', 'abc']],
  ['gte:5', ['5', '10'], ['4.9']],
  ['lt:5', ['4'], ['5', 'abc']],
  ['lte:5', ['5', '-100'], ['5.1']],
  ['ip', ['127.0.0.1', '2001:db8::1', '::'], ['256.0.0.1', '1.2.3', 'fe80::1%eth0', '[::1]', 'host']],
  ['ipv4', ['0.0.0.0', '255.255.255.255'], ['::1', '01.2.3.4', '1.2.3.4.5']],
  ['ipv6', ['::1', '2001:db8:0:0:0:0:0:1'], ['127.0.0.1', '2001:db8', 'g::1']],
  ['uuid', ['5b0f3c1e-2f7d-4a6e-9c3b-7d1e2f3a4b5c'], ['5b0f3c1e', '5b0f3c1e2f7d4a6e9c3b7d1e2f3a4b5c']],
  ['email', ['a@b.example', 'a.b+c@localhost'], ['a', 'a@', '@b', 'a@b@c', 'a b@c.d', 'a@b..c']],
  ['starts_with:a,b', ['apple', 'bee'], ['cow']],
  ['ends_with:.jar,.zip', ['x.jar', 'x.zip'], ['x.exe']],
  ['json', ['{}', '[1,2]', '"x"', 'null'], ['{', 'x', "{'a':1}"]],
  ['timezone', ['Europe/Amsterdam', 'UTC'], ['Mars/Base', '+01:00', '']],
  ['date', ['2031-03-02', '2031-03-02T10:00:00Z', '2 March 2031'], ['2031-02-30', '2031-13-01', 'soon']],
  ['regex:/^[\\w.-]+\\.jar$/', ['server.jar', 'paper-1.21.jar'], ['server.zip', 'a b.jar', 'server.jar\n']],
  ['regex:/^abc$/i', ['ABC'], ['abcd']],
  ['regex:#^a/b$#', ['a/b'], ['a']],
  ['regex:/^a\\/b$/', ['a/b'], ['a']],
  ['regex:/^(a|b)$/|max:1', ['a', 'b'], ['c']],
  ['required|regex:/^(beta|alpha|stable)$/|string', ['beta', 'stable'], ['gamma', '']],
  ['regex:([a-z-0-9]+$)', ['abc-1', 'X1'], ['X', '']],
  ['regex:((a|b)+$)|max:2', ['ab'], ['c', 'aba']],
  ['regex:{^x{2}$}', ['xx'], ['x']],
  ['regex:/^\\p{L}+$/u', ['Ünï'], ['1']],
  ['not_regex:/[;&|]/', ['abc'], ['a;b', 'a|b']],
]

describe('rules of egg variables', () => {
  for (const [rules, accepted, refused] of cases) {
    for (const value of accepted) {
      it(`${JSON.stringify(rules)} accepts ${JSON.stringify(value)}`, async () => {
        expect(await validateVariable(rules, value)).toEqual([])
      })
    }
    for (const value of refused) {
      it(`${JSON.stringify(rules)} refuses ${JSON.stringify(value)}`, async () => {
        const failures = await validateVariable(rules, value)
        expect(failures.length).toBeGreaterThan(0)
        expect(failures.every((failure) => failure.kind === 'value')).toBe(true)
      })
    }
  }

  it('names every failed rule with its parameters', async () => {
    expect(await validateVariable('string|max:3|in:a,b', 'abcd')).toEqual([
      { kind: 'value', rule: 'max', parameters: ['3'] },
      { kind: 'value', rule: 'in', parameters: ['a', 'b'] },
    ])
  })

  it('reports nothing else once a required value is missing', async () => {
    expect(await failed('required|string|between:1,3', '')).toEqual(['required'])
    expect(await failed('required|nullable|string', null)).toEqual(['required'])
  })

  it('stops at the first failure with bail', async () => {
    expect(await failed('bail|integer|in:1', 'x')).toEqual(['integer'])
  })

  it('ignores empty rules and a trailing pipe', async () => {
    expect(await failed('required||string|', 'a')).toEqual([])
  })

  it('refuses a value over 10 KiB wherever a pattern must be matched', async () => {
    expect(await failed('regex:/^a+$/', 'a'.repeat(10_240))).toEqual([])
    expect(await failed('regex:/^a+$/', 'a'.repeat(10_241))).toEqual(['regex'])
    expect(await failed('regex:/^é+$/', 'é'.repeat(5121))).toEqual(['regex'])
    expect(await failed('not_regex:/b/', 'a'.repeat(10_241))).toEqual(['not_regex'])
  })

  it('matches patterns with nested quantifiers in linear time', async () => {
    expect(await failed('regex:/^(([a-z])+.)+[A-Z]([a-z])+$/', 'a'.repeat(10_000))).toEqual(['regex'])
    expect(await failed('regex:/(x+x+)+y/', 'x'.repeat(10_000))).toEqual(['regex'])
  })
})

describe('rules that are written wrongly', () => {
  const problems: [rules: string, rule: string, written: string][] = [
    ['frobnicate', 'unknown_rule', 'frobnicate'],
    ['constructor:1', 'unknown_rule', 'constructor:1'],
    ['max', 'wrong_parameters', 'max'],
    ['max:abc', 'wrong_parameters', 'max:abc'],
    ['between:1', 'wrong_parameters', 'between:1'],
    ['in', 'wrong_parameters', 'in'],
    ['gt:other_field', 'wrong_parameters', 'gt:other_field'],
    ['regex', 'refused_pattern', 'regex'],
    ['regex:^[a-z]+$', 'refused_pattern', 'regex:^[a-z]+$'],
    ['regex:abc', 'refused_pattern', 'regex:abc'],
    ['regex:/(?=a)b/', 'refused_pattern', 'regex:/(?=a)b/'],
    ['regex:/(a)\\1/', 'refused_pattern', 'regex:/(a)\\1/'],
    ['regex:/a/x', 'refused_pattern', 'regex:/a/x'],
    ['regex:/((a{100}){100}){100}/', 'refused_pattern', 'regex:/((a{100}){100}){100}/'],
    [`regex:/${'a'.repeat(1100)}/`, 'refused_pattern', `regex:/${'a'.repeat(1100)}/`],
    [`regex:/${'\\w{0,900}'.repeat(20)}/`, 'refused_pattern', `regex:/${'\\w{0,900}'.repeat(20)}/`],
  ]
  for (const [rules, rule, written] of problems) {
    it(`${written.slice(0, 40)} is a configuration problem and never throws`, async () => {
      const expected = [{ kind: 'configuration', rule, parameters: [written] }]
      expect(await ruleProblems(rules)).toEqual(expected)
      expect(await validateVariable(rules, 'value')).toEqual(expected)
      expect(await validateVariable(`nullable|${rules}`, null)).toEqual(expected)
    })
  }

  it('a pattern that never closes leaves the rules behind it alone', () => {
    expect(splitRules('regex:/^abc|max:20')).toEqual([
      { name: 'regex', argument: '/^abc' },
      { name: 'max', argument: '20' },
    ])
  })

  it('still checks the other rules of the variable', async () => {
    expect((await validateVariable('frobnicate|max:1', 'ab')).map((each) => each.kind)).toEqual([
      'configuration',
      'value',
    ])
  })

  it('keeps working after more rules than the cache holds', async () => {
    for (let bound = 1; bound <= 1200; bound += 1)
      expect(await failed(`string|max:${bound}`, 'a')).toEqual([])
    expect(await failed('string|max:1', 'ab')).toEqual(['max'])
  })
})

describe('the syntax of rules', () => {
  it('keeps pipes inside a pattern that is still open', () => {
    expect(splitRules('required|regex:/^(a|b)$/i|max:9')).toEqual([
      { name: 'required', argument: null },
      { name: 'regex', argument: '/^(a|b)$/i' },
      { name: 'max', argument: '9' },
    ])
  })

  it('reads parameters as comma separated values with empty items and quotes', () => {
    expect(parseRuleParameters(',beta')).toEqual(['', 'beta'])
    expect(parseRuleParameters('a,')).toEqual(['a', ''])
    expect(parseRuleParameters('')).toEqual([''])
    expect(parseRuleParameters('"a,b","c"')).toEqual(['a,b', 'c'])
    expect(parseRuleParameters('"open,b')).toEqual(['"open', 'b'])
    expect(parseRuleParameters(null)).toEqual([])
  })

  it('takes delimiters and modifiers off a pattern', () => {
    expect(parseDelimitedPattern('/^a$/i')).toEqual({ body: '^a$', modifiers: 'i' })
    expect(parseDelimitedPattern('~a/b~')).toEqual({ body: 'a/b', modifiers: '' })
    expect(parseDelimitedPattern('(a(b)c)')).toEqual({ body: 'a(b)c', modifiers: '' })
    expect(parseDelimitedPattern('/a\\/')).toBeNull()
    expect(parseDelimitedPattern('/')).toBeNull()
    expect(parseDelimitedPattern('')).toBeNull()
  })
})
