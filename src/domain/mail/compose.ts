import type { Message } from '../../adapters/mail.ts'

/** The text of a mail: paragraphs and one button. */
export type MailContent = {
  to: string
  /** Language tag of the text. */
  language: string
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
  const { to, language, paragraphs, button, footnote } = content
  const text = [...paragraphs, `${button.label}: ${button.url}`, footnote].join('\n\n')
  const link = `<a href="${escapeHtml(button.url)}" style="color:#1d4ed8">${escapeHtml(button.label)}</a>`
  const html = [
    '<!doctype html>',
    `<html lang="${escapeHtml(language)}"><head><meta charset="utf-8"></head>`,
    '<body style="font-family:sans-serif;line-height:1.5;color:#111827">',
    ...paragraphs.map((paragraph) => `<p>${escapeHtml(paragraph)}</p>`),
    `<p>${link}</p>`,
    `<p style="font-size:smaller;color:#6b7280">${escapeHtml(footnote)}</p>`,
    '</body></html>',
  ].join('\n')
  return { to, subject: toSingleLine(content.subject, 2 * maxNameLength), text: `${text}\n`, html }
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

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

const escapeHtml = (text: string) => text.replace(/[&<>"']/g, (character) => entities[character] ?? '')
