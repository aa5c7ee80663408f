import de from '../../locales/de/mail.json' with { type: 'json' }
import en from '../../locales/en/mail.json' with { type: 'json' }
import es from '../../locales/es/mail.json' with { type: 'json' }
import fr from '../../locales/fr/mail.json' with { type: 'json' }
import pl from '../../locales/pl/mail.json' with { type: 'json' }
import ptBR from '../../locales/pt-BR/mail.json' with { type: 'json' }
import ru from '../../locales/ru/mail.json' with { type: 'json' }
import tr from '../../locales/tr/mail.json' with { type: 'json' }
import zhCN from '../../locales/zh-CN/mail.json' with { type: 'json' }
import { type Language, languageNamed, languages } from '../languages.ts'

/** Names of the mails there are. */
export type MailName = keyof typeof en

/** What one mail says; `{{name}}` stands for a value. */
export type MailText = { subject: string; paragraphs: string[]; button: string; footnote: string }

/** Every mail in every language. */
export const mailTexts: Record<Language, Record<MailName, MailText>> = {
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

/** The language in which an account is written to: its own, or the first one where it leaves the choice to a browser. */
export const mailLanguage = (choice: string): Language => languageNamed(choice) ?? languages[0]

/** The mail in one language with its values filled in; what a value holds is never read as a placeholder. */
export function mailText(language: Language, name: MailName, values: ReadonlyMap<string, string>): MailText {
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
