import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { contrast } from '../../src/domain/appearance/accent.ts'
import { type Language, languages } from '../../src/domain/languages.ts'
import { composeMail, sanitizeDisplayName } from '../../src/domain/mail/compose.ts'
import {
  resolveMailLanguage,
  type MailTemplate,
  renderMailText,
  readMailTexts,
} from '../../src/domain/mail/texts.ts'

const mailTexts = Object.fromEntries(
  await Promise.all(languages.map(async (language) => [language, await readMailTexts(language)] as const)),
) as Record<Language, Awaited<ReturnType<typeof readMailTexts>>>
const names = Object.keys(mailTexts.en) as MailTemplate[]
const lines = (language: Language, name: MailTemplate) => {
  const { subject, paragraphs, button, footnote } = mailTexts[language][name]
  return { subject, body: paragraphs.join('\n'), button, footnote }
}
const placeholders = (text: string) =>
  [...text.matchAll(/\{\{(\w+)\}\}/g)]
    .map(([, name = '']) => name)
    .toSorted((one, other) => one.localeCompare(other))

describe.each(languages)('the mails in %s', (language) => {
  it('are those of the other languages', () => {
    expect(Object.keys(mailTexts[language])).toEqual(names)
  })

  it.each(names)('say all of %s, with the same values', (name) => {
    const own = lines(language, name)
    const english = lines('en', name)
    expect(Object.keys(mailTexts[language][name])).toEqual(Object.keys(mailTexts.en[name]))
    expect(mailTexts[language][name].paragraphs).toHaveLength(mailTexts.en[name].paragraphs.length)
    for (const [part, text] of Object.entries(own)) {
      const original = english[part as keyof typeof english]
      expect(text.trim(), part).not.toBe('')
      expect(placeholders(text), part).toEqual(placeholders(original))
      if (language !== 'en' && original !== 'Open {{panel}}') expect(text, part).not.toBe(original)
      expect(text.replaceAll(/\{\{\w+\}\}/g, ''), part).not.toMatch(/[{}<>\r\t]/)
    }
  })
})

it('leaves no language of the folder out', () => {
  const entries = readdirSync(new URL('../../src/locales', import.meta.url), { withFileTypes: true })
  const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
  expect(folders.toSorted()).toEqual([...languages].toSorted())
})

describe('the language of a mail', () => {
  it.each([
    ['auto', 'en'],
    ['de', 'de'],
    ['pt-BR', 'pt-BR'],
    ['pt', 'pt-BR'],
    ['zh_CN', 'zh-CN'],
    ['xx', 'en'],
    ['', 'en'],
    ['constructor', 'en'],
  ])('of an account with %s is %s', (choice, language) => {
    expect(resolveMailLanguage(choice)).toBe(language)
  })
})

describe('a text with values', () => {
  it('takes them as they are, whatever they look like', async () => {
    const values = new Map([
      ['panel', '$& {{username}}'],
      ['username', '{{panel}} $1'],
    ])
    const { subject, paragraphs } = await renderMailText('en', 'registered', values)
    expect(subject).toBe('Welcome to $& {{username}}')
    expect(paragraphs).toEqual(['Your account {{panel}} $1 on $& {{username}} is ready.'])
  })

  it('is not written without one of them', async () => {
    const incomplete = renderMailText('en', 'registered', new Map([['panel', 'Roost']]))
    await expect(incomplete).rejects.toThrow('username')
  })
})

describe('a letter', () => {
  const hostile = `Eve\r\nBcc: all@example.test\u2028\u202e\u0000"<script>'&`
  const letter = (name: string) =>
    composeMail({
      to: 'mara@example.test',
      language: 'en',
      panel: name,
      accent: null,
      subject: `About ${name}`,
      paragraphs: [`Dear ${name}`],
      button: { label: `Open ${name}`, url: `https://panel.test/?a="&b='<x>` },
      footnote: name,
    })

  it('has a subject of one line, however names are made', () => {
    const { subject } = letter(hostile)
    expect(subject).toBe(`About Eve Bcc: all@example.test "<script>'&`)
    expect(letter('x'.repeat(5000)).subject).toHaveLength(200)
    expect(letter('😀'.repeat(5000)).subject.isWellFormed()).toBe(true)
  })

  it('has an HTML part in which nothing of them is markup', () => {
    const { html } = letter(hostile)
    expect(html).toContain('&lt;script&gt;&#39;&amp;')
    expect(html).toContain('href="https://panel.test/?a=&quot;&amp;b=&#39;&lt;x&gt;"')
    const tags = [...html.matchAll(/<\/?(\w+)/g)].map(([, tag]) => tag)
    const own = 'html head meta title style body div table tr td h1 p a'
    expect(new Set(tags)).toEqual(new Set(own.split(' ')))
    expect(html.match(/<a /g)).toHaveLength(1)
  })

  it.each([null, '#ffff00', '#000000', '#ff0044'])(
    'is readable in both themes with the accent %s',
    (accent) => {
      const { html } = composeMail({
        to: 'mara@example.test',
        language: 'en',
        panel: 'Roost',
        accent,
        subject: 'About',
        paragraphs: ['Dear'],
        button: { label: 'Open', url: 'https://panel.test/' },
        footnote: 'Small print',
      })
      const [, dark = ''] = html.split('prefers-color-scheme:dark')
      const colour = (text: string, pattern: RegExp) => pattern.exec(text)?.[1] ?? ''
      const light = (name: string, property: string) =>
        colour(html, new RegExp(`class="${name}"[^>]*[;"]${property}:(#\\w{6})`))
      const darkOf = (name: string, property: string) =>
        colour(dark, new RegExp(`\\.${name}\\{${property}:(#\\w{6})`))
      for (const read of [light, darkOf]) {
        const [canvas, card, button] = ['canvas', 'card', 'button'].map((name) => read(name, 'background'))
        const [ink, muted, label] = ['ink', 'muted', 'label'].map((name) => read(name, 'color'))
        for (const [text, background] of [
          [ink, canvas],
          [ink, card],
          [muted, canvas],
          [muted, card],
          [label, button],
        ])
          expect(contrast(text ?? '', background ?? ''), `${text} on ${background}`).toBeGreaterThanOrEqual(
            4.5,
          )
      }
    },
  )

  it('has a text part that names the address of its link', () => {
    expect(letter('you').text).toBe(`Dear you\n\nOpen you: https://panel.test/?a="&b='<x>\n\nyou\n`)
  })

  it('shows names on one line', () => {
    expect(sanitizeDisplayName(hostile)).toBe(`Eve Bcc: all@example.test "<script>'&`)
    expect(sanitizeDisplayName('x'.repeat(500))).toHaveLength(100)
  })
})
