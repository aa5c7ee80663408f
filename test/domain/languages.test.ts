import { describe, expect, it } from 'vitest'
import { resolveLanguage } from '../../src/domain/languages.ts'

describe('the language of an account', () => {
  it('is the one that was chosen, whatever the browser wants', () => {
    expect(resolveLanguage('pt-BR', 'de')).toBe('pt-BR')
    expect(resolveLanguage('de', undefined)).toBe('de')
  })

  it.each([
    ['fr', 'fr'],
    ['FR-ca', 'fr'],
    ['de-AT,de;q=0.9,en;q=0.8', 'de'],
    ['en;q=0.3, pl;q=0.7', 'pl'],
    ['ja, ko;q=0.9, tr;q=0.1', 'tr'],
    ['pt', 'pt-BR'],
    ['pt-PT', 'pt-BR'],
    ['zh', 'zh-CN'],
    ['zh-cn', 'zh-CN'],
    ['de;q=0, ru', 'ru'],
    ['es ; q=0.5 , fr ; q=0.6', 'fr'],
  ])('is with auto the best that the browser asks for: %s', (header, locale) => {
    expect(resolveLanguage('auto', header)).toBe(locale)
  })

  it.each([undefined, '', '*', 'ja', 'de;q=0', 'de;q=x', ';;;,,', 'deutsch', 'q=1'])(
    'is English where nothing fits: %s',
    (header) => {
      expect(resolveLanguage('auto', header)).toBe('en')
    },
  )

  it("is the browser's where the account holds one that is not installed", () => {
    expect(resolveLanguage('nl', 'fr')).toBe('fr')
  })
})
