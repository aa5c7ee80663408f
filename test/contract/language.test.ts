import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { sourceFiles } from './imports.ts'

const root = join(import.meta.dirname, '../..')

type BannedWord = { words: RegExp; instead: string; reason: string }

/** Words that texts, comments and titles of tests do not use. */
const inTexts: BannedWord[] = [
  {
    words: /\b(whoever|somebody|someone|nobody|anybody|everybody|strangers?)\b/i,
    instead: 'the user, the caller, the administrator, the owner, the subuser; "no user", "any caller"',
    reason: 'A riddle about people hides which of the roles of the API is meant.',
  },
  {
    words: /\b(he|she|him|his|hers|himself)\b/i,
    instead: 'they, or the role',
    reason: 'A user has no known sex, and software is "it".',
  },
  {
    words: /\b(outsiders?|(ways? in)|(gives? up)|(calls? off)|(called off)|(given up))\b/i,
    instead: 'external service; sign-in method; abandon; cancel',
    reason: 'The field has words for these, which the API and its documentation use.',
  },
]

/** Parts of identifiers that code does not use. */
const inIdentifiers: BannedWord[] = [
  {
    words: /\b(longest|most|deepest|slightest|largest|shortest|smallest|furthest)[A-Z]\w*/,
    instead: 'maxX, minX with its unit',
    reason: 'Limits are found by max and min.',
  },
  {
    words: /\b(outsider|patience|lanes|oneByOne|leaning|carryRunOn|waysIn|wayIn|stating)\b/i,
    instead: 'the terms of CONTRIBUTING.md',
    reason: 'A private word for what the field names.',
  },
  {
    words:
      /\b(refused|told|asked|taken|kept|given|reached)At\b|\b(ReachedServer|takenOffAt|howMuch|whatFor)\b/,
    instead: 'access, ServerAccess, a verb of the field',
    reason: 'A private word for what the field names.',
  },
  {
    words: /\b(seal|unseal|reseal|sealed)(?=[A-Z(])\w*/,
    instead: 'encrypt, decrypt, rotateKeys',
    reason: 'Secrets are encrypted.',
  },
]

/** Permitted uses: names of other products, and values of the API. */
const exceptions: { file: string; text: RegExp; reason: string }[] = [
  {
    file: 'test/contract/language.test.ts',
    text: /./,
    reason: 'The list itself.',
  },
  ...[
    'src/domain/settings/definitions.ts',
    'src/domain/auth/two-factor-policy.ts',
    'src/cli/move-in/old-settings.ts',
    'test/cli/moved-settings.test.ts',
    'docs/configuration.md',
  ].map((file) => ({
    file,
    text: /['`](nobody|everybody)['`]/,
    reason: 'Values of the setting two_factor.required.',
  })),
  ...[
    'README.md',
    'CHANGELOG.md',
    'docs/nodes.md',
    'docs/decisions/0017-embedded-services.md',
    'src/dev/daemon/unprivileged-user.ts',
  ].map((file) => ({
    file,
    text: /['`]nobody['`]/,
    reason: 'The name of a user of the operating system.',
  })),
  {
    file: 'src/http/public-route.ts',
    text: /'anybody'/,
    reason: 'The value of x-permission in the OpenAPI document.',
  },
  {
    file: 'test/application/settings.test.ts',
    text: /required: 'nobody'/,
    reason: 'A value of the setting two_factor.required.',
  },
  {
    file: 'test/browser/second-factor-policy.test.ts',
    text: /'(nobody|everybody)'/,
    reason: 'Values of the setting two_factor.required.',
  },
]

const markdown = [
  'README.md',
  'CONTRIBUTING.md',
  'src/README.md',
  ...pagesOf('docs'),
  ...pagesOf('docs/decisions'),
]
const locales = pagesOf('src/locales/en')
const code = sourceFiles('src', 'functions', 'drizzle', 'test').filter((file) => !file.endsWith('.gen.ts'))

function pagesOf(folder: string): string[] {
  return readdirSync(join(root, folder))
    .filter((name) => /\.(md|json)$/.test(name))
    .map((name) => `${folder}/${name}`)
}

/** Lists the lines with a banned word, without the exceptions. */
function findings(files: string[], banned: BannedWord[]): string[] {
  return files.flatMap((file) =>
    readFileSync(join(root, file), 'utf8')
      .split('\n')
      .flatMap((line, index) => {
        const word = banned.map(({ words }) => words.exec(line)?.[0]).find(Boolean)
        return word && !isExcepted(file, line) ? [`${file}:${index + 1}: ${word}`] : []
      }),
  )
}

const isExcepted = (file: string, line: string) =>
  exceptions.some((exception) => file === exception.file && exception.text.test(line))

describe('the language of the project', () => {
  it('names people by their roles, in texts, comments and pages', () => {
    expect(findings([...markdown, ...locales, ...code], inTexts)).toEqual([])
  })

  it('names things by the terms of the field, in code', () => {
    expect(findings(code, inIdentifiers)).toEqual([])
  })

  it('finds a word that is banned', () => {
    expect(inTexts.some(({ words }) => words.test('Nobody waits any more.'))).toBe(true)
    expect(inIdentifiers.some(({ words }) => words.test('const longestWait = 5'))).toBe(true)
  })
})
