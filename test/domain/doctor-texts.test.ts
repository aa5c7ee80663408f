import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { findingTexts } from '../../src/domain/nodes/doctor-findings.ts'
import { languages } from '../../src/domain/languages.ts'

type Texts = Record<string, Record<string, { meaning: string; advice?: string }>>

const textsOf = (language: string) =>
  JSON.parse(
    readFileSync(new URL(`../../src/locales/${language}/doctor.json`, import.meta.url), 'utf8'),
  ) as Texts

const placeholders = (text = '') => text.match(/\{\{\w+\}\}/g)?.toSorted() ?? []

describe('the texts of the doctor', () => {
  it('in the browser are those of the API', () => {
    const english = textsOf('en')
    for (const [code, [meaning, advice]] of Object.entries<readonly [string, string?]>(findingTexts)) {
      const [check = '', name = ''] = code.split('.')
      expect(english[check]?.[name]).toEqual({ meaning, ...(advice === undefined ? {} : { advice }) })
    }
  })

  it.each(languages)('name the same values: %s', (language) => {
    const translated = textsOf(language)
    for (const [check, texts] of Object.entries(textsOf('en'))) {
      for (const [name, { meaning, advice }] of Object.entries(texts)) {
        const text = translated[check]?.[name]
        expect([placeholders(text?.meaning), placeholders(text?.advice)], `${check}.${name}`).toEqual([
          placeholders(meaning),
          placeholders(advice),
        ])
      }
    }
  })
})
