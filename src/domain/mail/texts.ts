import de from '../../locales/de/mail.json' with { type: 'json' }
import en from '../../locales/en/mail.json' with { type: 'json' }
import es from '../../locales/es/mail.json' with { type: 'json' }
import fr from '../../locales/fr/mail.json' with { type: 'json' }
import pl from '../../locales/pl/mail.json' with { type: 'json' }
import ptBR from '../../locales/pt-BR/mail.json' with { type: 'json' }
import ru from '../../locales/ru/mail.json' with { type: 'json' }
import tr from '../../locales/tr/mail.json' with { type: 'json' }
import zhCN from '../../locales/zh-CN/mail.json' with { type: 'json' }
import { findLanguage, type Language, languages } from '../languages.ts'

/** Names of the mail templates. */
export type MailTemplate = keyof typeof en

/** The text of a template; `{{name}}` is a placeholder. */
export type MailText = { subject: string; paragraphs: string[]; button: string; footnote: string }

/** Every template in every language. */
export const mailTexts: Record<Language, Record<MailTemplate, MailText>> = {
  en,
  de,
  fr,
  es,
  'pt-BR': ptBR,
  pl,
  tr,
  ru,
  'zh-CN': zhCN,
}

/** Returns the language for mails to an account: its own, or the first one when it follows the browser. */
export const resolveMailLanguage = (choice: string): Language => findLanguage(choice) ?? languages[0]

/** Renders a template in one language. Placeholders inside values are not replaced. */
export function renderMailText(
  language: Language,
  name: MailTemplate,
  values: ReadonlyMap<string, string>,
): MailText {
  const { subject, paragraphs, button, footnote } = mailTexts[language][name]
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
