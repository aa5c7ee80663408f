import type en from '../../locales/en/mail.json'
import { findLanguage, type Language, languages } from '../languages.ts'

/** Names of the mail templates. */
export type MailTemplate = keyof typeof en

/** The text of a template; `{{name}}` is a placeholder. */
export type MailText = { subject: string; paragraphs: string[]; button: string; footnote: string }

/** Imports of the texts, each its own: a process reads those of the languages of its users. */
const imports: Record<Language, () => Promise<{ default: Record<MailTemplate, MailText> }>> = {
  en: () => import('../../locales/en/mail.json', { with: { type: 'json' } }),
  de: () => import('../../locales/de/mail.json', { with: { type: 'json' } }),
  fr: () => import('../../locales/fr/mail.json', { with: { type: 'json' } }),
  es: () => import('../../locales/es/mail.json', { with: { type: 'json' } }),
  'pt-BR': () => import('../../locales/pt-BR/mail.json', { with: { type: 'json' } }),
  pl: () => import('../../locales/pl/mail.json', { with: { type: 'json' } }),
  tr: () => import('../../locales/tr/mail.json', { with: { type: 'json' } }),
  ru: () => import('../../locales/ru/mail.json', { with: { type: 'json' } }),
  'zh-CN': () => import('../../locales/zh-CN/mail.json', { with: { type: 'json' } }),
}

/** Reads every template in one language. */
export const readMailTexts = async (language: Language): Promise<Record<MailTemplate, MailText>> =>
  (await imports[language]()).default

/** Returns the language for mails to an account: its own, or the first one when it follows the browser. */
export const resolveMailLanguage = (choice: string): Language => findLanguage(choice) ?? languages[0]

/** Renders a template in one language. Placeholders inside values are not replaced. */
export async function renderMailText(
  language: Language,
  name: MailTemplate,
  values: ReadonlyMap<string, string>,
): Promise<MailText> {
  const { subject, paragraphs, button, footnote } = (await readMailTexts(language))[name]
  const fill = (text: string) =>
    text.replace(/\{\{(\w+)\}\}/g, (_, placeholder: string) => {
      const value = values.get(placeholder)
      if (value === undefined) throw new Error(`The mail ${name} has no value for ${placeholder}.`)
      return value
    })
  return {
    subject: fill(subject),
    paragraphs: paragraphs.map(fill),
    button: fill(button),
    footnote: fill(footnote),
  }
}
