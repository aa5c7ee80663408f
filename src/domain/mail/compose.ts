import type { Message } from '../../adapters/mail.ts'

/** What a mail says, as plain text: paragraphs, and one thing to click. */
export type Letter = {
  to: string
  /** Of what it says, as a tag for browsers. */
  language: string
  subject: string
  paragraphs: string[]
  button: { label: string; url: string }
  /** Stands below the button, in small print. */
  footnote: string
}

const longestName = 100

/** The letter with a text part and an HTML part, in which nothing of it is read as markup. Addresses of links are absolute. */
export function composeMail(letter: Letter): Omit<Message, 'from'> {
  const { to, language, paragraphs, button, footnote } = letter
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
  return { to, subject: oneLine(letter.subject, 2 * longestName), text: `${text}\n`, html }
}

/** A name that people chose, on one line and no longer than a line: fit for a subject and between quotes. */
export const shownName = (name: string): string => oneLine(name, longestName)

/** Line breaks would begin another header, marks of direction another text. */
const oneLine = (text: string, longest: number) =>
  text
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
    .slice(0, longest)
    .toWellFormed()

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

const escapeHtml = (text: string) => text.replace(/[&<>"']/g, (character) => entities[character] ?? '')
