import { describe, expect, it } from 'vitest'
import { activityEvents } from '../../src/domain/activity/events.ts'
import { type Language, languages } from '../../src/domain/languages.ts'
import type { Translations } from '../../src/adapters/locales.ts'
import { localeFiles } from '../../src/platform/locale-files.ts'
import { reasonCodes } from '../../src/domain/schedules/reasons.ts'
import { settingDefinitions } from '../../src/domain/settings/definitions.ts'
import { type Namespace, namespaces } from '../../src/domain/locales/translations.ts'
import { readRows } from '../contract/contract-files.ts'

const plural = /_(zero|one|two|few|many|other)$/
const categoriesOf = (language: Language) => new Intl.PluralRules(language).resolvedOptions().pluralCategories

/** Texts by their whole name; a name with a dot would be looked up as one below another, and not be found. */
function flat(texts: Translations, above = ''): Map<string, string> {
  expect(Object.keys(texts).filter((name) => name.includes('.'))).toEqual([])
  return new Map(
    Object.entries(texts).flatMap(([name, value]) =>
      typeof value === 'string' ? [[above + name, value] as const] : [...flat(value, `${above}${name}.`)],
    ),
  )
}

async function read(language: Language, namespace: Namespace): Promise<Map<string, string>> {
  return flat(await localeFiles.read(language, namespace))
}

const byName = (one: string, other: string) => (one < other ? -1 : 1)
const placeholders = (text: string) => [...text.matchAll(/\{\{([^}]*)\}\}/g)].map(([, name = '']) => name)
const placeholdersIn = (text = '') => [...new Set(placeholders(text))].toSorted(byName)

/** The names that a language must have: English ones, with the forms of its own numbers. */
function namesIn(language: Language, english: Map<string, string>): string[] {
  const bases = new Set([...english.keys()].map((name) => name.replace(plural, '')))
  return [...bases].flatMap((base) =>
    english.has(`${base}_other`) ? categoriesOf(language).map((form) => `${base}_${form}`) : [base],
  )
}

/** Whether the form `one` means just one thing, so that it may be named instead of counted. */
const namesTheOne = (language: Language) => {
  const rules = new Intl.PluralRules(language)
  return Array.from({ length: 200 }, (_, at) => at + 2).every((count) => rules.select(count) !== 'one')
}

/** The English text which a text has to match. */
function modelOf(language: Language, name: string, english: Map<string, string>): string | undefined {
  const form = plural.exec(name)?.[1]
  if (form === undefined || (form === 'one' && namesTheOne(language))) return english.get(name)
  return english.get(name.replace(plural, '_other'))
}

describe.each(namespaces)('the namespace %s', (namespace) => {
  it.each(languages)('has the same texts in %s', async (language) => {
    const english = await read('en', namespace)
    const own = await read(language, namespace)
    expect([...own.keys()].toSorted(byName)).toEqual(namesIn(language, english).toSorted(byName))
    for (const [name, text] of own) {
      expect(placeholdersIn(text), name).toEqual(placeholdersIn(modelOf(language, name, english)))
    }
  })

  it.each(languages)('is plain text in %s', async (language) => {
    for (const [name, text] of await read(language, namespace)) {
      expect(text, name).toMatch(/\S/)
      expect(text, name).toBe(text.trim())
      expect(text, name).not.toMatch(/[<>]|&\w+;|\p{Cc}|  /u)
      expect(text.replaceAll(/\{\{[\w.]+\}\}/g, ''), name).not.toMatch(/[{}]|\$t\(/)
    }
  })
})

describe('the reasons of runs', () => {
  it('have a text for each code', async () => {
    const names = [...(await read('en', 'schedules')).keys()].filter((name) => name.startsWith('reason.'))
    expect(names.toSorted(byName)).toEqual(reasonCodes.map((code) => `reason.${code}`).toSorted(byName))
  })
})

describe('the meanings of settings', () => {
  it('are those of their definitions, one for each', async () => {
    const meanings = Object.entries(settingDefinitions).map(([key, { description }]) => [key, description])
    expect(Object.fromEntries(await read('en', 'meanings'))).toEqual(Object.fromEntries(meanings))
  })
})

describe('the languages', () => {
  it('are translated', async () => {
    const every = async (language: Language) =>
      (await Promise.all(namespaces.map((namespace) => read(language, namespace)))).flatMap((texts, at) =>
        [...texts].map(([name, text]) => [`${namespaces[at]}:${name}`, text] as const),
      )
    const english = new Map(await every('en'))
    for (const language of languages.slice(1)) {
      const same = (await every(language)).filter(([name, text]) => english.get(name) === text)
      expect(same.length, language).toBeLessThan(english.size / 10)
    }
  })

  it('have more than 150 texts', async () => {
    const all = await Promise.all(namespaces.map((namespace) => read('en', namespace)))
    expect(all.reduce((sum, texts) => sum + texts.size, 0)).toBeGreaterThan(300)
  })
})

describe('the audit log', () => {
  /** Events which daemons report, with their properties. */
  const reported: Record<string, readonly string[]> = {
    'server:crashed': [],
    'server:file.uploaded': ['file', 'directory'],
    'server:sftp.write': ['files'],
    'server:sftp.create': ['files'],
    'server:sftp.create-directory': ['files'],
    'server:sftp.rename': ['files'],
    'server:sftp.delete': ['files'],
  }
  const vocabulary = readRows('events.txt').map(([name = '']) => name)
  const names = [...new Set([...vocabulary, ...Object.keys(activityEvents), ...Object.keys(reported)])]

  it.each(names)('has a text for %s', async (event) => {
    const texts = await read('en', 'activity')
    const key = event.replace(':', '.')
    const own = [...texts].filter(([name]) => name.replace(plural, '') === key)
    expect(own.length).toBeGreaterThan(0)
    const known: Record<string, readonly string[]> = { ...activityEvents, ...reported }
    const properties = known[event]
    if (!properties) return
    const shown = [...properties, ...(properties.includes('files') ? ['count'] : [])]
    const unknown = own.flatMap(([, text]) => placeholders(text)).map((name) => name.split('.')[0] ?? '')
    expect(unknown.filter((name) => !shown.includes(name))).toEqual([])
  })

  it('has texts for nothing else', async () => {
    const keys = names.map((name) => name.replace(':', '.'))
    const texts = await read('en', 'activity')
    expect([...texts.keys()].filter((name) => !keys.includes(name.replace(plural, '')))).toEqual([])
  })
})
