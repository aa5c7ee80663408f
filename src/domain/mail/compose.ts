import type { Message } from '../../adapters/mail.ts'
import { renderMailPage } from './html.ts'

/** The text of a mail: paragraphs and one button. */
export type MailContent = {
  to: string
  /** Language tag of the text. */
  language: string
  /** Name of the panel. */
  panel: string
  /** Colour of the button, `#rrggbb`; null for the panel's own. */
  accent: string | null
  subject: string
  paragraphs: string[]
  button: { label: string; url: string }
  /** Small print below the button. */
  footnote: string
}

const maxNameLength = 100

/**
 * Composes a mail with a text part and an HTML part; nothing in the content is read as markup. URLs must be
 * absolute.
 */
export function composeMail(content: MailContent): Omit<Message, 'from'> {
  const { to, paragraphs, button, footnote } = content
  const subject = toSingleLine(content.subject, 2 * maxNameLength)
  const text = [...paragraphs, `${button.label}: ${button.url}`, footnote].join('\n\n')
  return { to, subject, text: `${text}\n`, html: renderMailPage({ ...content, title: subject }) }
}

/** Limits a name that users chose to one line of at most 100 characters, for subjects and quotations. */
export const sanitizeDisplayName = (name: string): string => toSingleLine(name, maxNameLength)

/** Line breaks would begin another header, and direction marks could disguise the text. */
const toSingleLine = (text: string, maxLength: number) =>
  text
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
    .slice(0, maxLength)
    .toWellFormed()
