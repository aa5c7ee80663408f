import { type Accent, deriveAccent } from '../appearance/accent.ts'

/** What the HTML part shows; all of it is text. */
export type MailPage = {
  language: string
  /** Name of the panel, above the text. */
  panel: string
  title: string
  paragraphs: readonly string[]
  button: { label: string; url: string }
  footnote: string
  /** `#rrggbb`, or null for the panel's own colour. */
  accent: string | null
}

/** The colours of the application, by theme. Same as `src/web/app.css`. */
const themes = {
  light: { canvas: '#f5f6f5', surface: '#ffffff', line: '#dfe3e0', ink: '#17201b', muted: '#55605a' },
  dark: { canvas: '#0e1311', surface: '#161c19', line: '#2b3530', ink: '#e9efec', muted: '#a2aea8' },
}
const ownAccent: Pick<Accent['light'], 'brand' | 'ink'> = { brand: '#0c6b58', ink: '#ffffff' }
const ownDarkAccent: typeof ownAccent = { brand: '#3cc9a5', ink: '#04231b' }

const families = "system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans',Arial,sans-serif"
const table = 'role="presentation" cellpadding="0" cellspacing="0" border="0"'

/**
 * Renders the HTML part: a card in the middle that fits phones, in the theme of the reader. Styles stand at the elements,
 * since several programs read no others; those that know themes find the dark one in the head. Nothing is loaded.
 */
export function renderMailPage(page: MailPage): string {
  const { language, panel, title, paragraphs, footnote, accent } = page
  const { canvas, ink, muted } = themes.light
  return [
    '<!doctype html>',
    `<html lang="${escapeHtml(language)}"><head><meta charset="utf-8">`,
    '<meta name="viewport" content="width=device-width">',
    '<meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark">',
    `<title>${escapeHtml(title)}</title><style>${darkStyle(accent)}</style></head>`,
    `<body class="canvas" style="margin:0;padding:0;background:${canvas};-webkit-text-size-adjust:100%">`,
    // What lists of mails show beside the subject.
    `<div style="display:none;max-height:0;overflow:hidden">${escapeHtml(paragraphs[0] ?? '')}</div>`,
    `<table ${table} width="100%" class="canvas" style="background:${canvas}"><tr><td align="center" style="padding:32px 12px">`,
    `<table ${table} width="100%" style="max-width:560px;table-layout:fixed;text-align:left">`,
    `<tr><td class="ink" style="padding:0 4px 14px;color:${ink};${font('600 15px/22px')}">${escapeHtml(panel)}</td></tr>`,
    ...renderCard(page),
    `<tr><td class="muted" style="padding:14px 4px 0;color:${muted};${font('13px/20px')}">${escapeHtml(footnote)}</td></tr>`,
    '</table></td></tr></table>',
    '</body></html>',
  ].join('\n')
}

/** Renders the row with the text and the button; the address stands below for those who cannot follow that. */
function renderCard({ title, paragraphs, button, accent }: MailPage): string[] {
  const { surface, line, ink, muted } = themes.light
  const { brand, ink: brandInk } = accent ? deriveAccent(accent).light : ownAccent
  const url = escapeHtml(button.url)
  return [
    `<tr><td class="card" style="padding:28px;background:${surface};border:1px solid ${line};border-radius:12px">`,
    `<h1 class="ink" style="margin:0 0 14px;color:${ink};${font('600 20px/27px')}">${escapeHtml(title)}</h1>`,
    ...paragraphs.map(
      (paragraph) =>
        `<p class="ink" style="margin:0 0 14px;color:${ink};${font('15px/24px')}">${escapeHtml(paragraph)}</p>`,
    ),
    `<table ${table} style="margin:22px 0 20px"><tr><td class="button" bgcolor="${brand}" style="background:${brand};border-radius:8px">`,
    `<a href="${url}" class="label" style="display:inline-block;padding:11px 20px;text-decoration:none;color:${brandInk};${font('600 15px/22px')}">${escapeHtml(button.label)}</a>`,
    '</td></tr></table>',
    `<p class="muted" style="margin:0;color:${muted};${font('13px/20px')}">${url}</p>`,
    '</td></tr>',
  ]
}

/** Long names and addresses break anywhere. */
const font = (size: string) => `font:${size} ${families};overflow-wrap:anywhere;word-break:break-word`

/** Returns the rules of the dark theme. */
function darkStyle(accent: string | null): string {
  const { canvas, surface, line, ink, muted } = themes.dark
  const { brand, ink: brandInk } = accent ? deriveAccent(accent).dark : ownDarkAccent
  const rules = [
    `.canvas{background:${canvas}!important}`,
    `.card{background:${surface}!important;border-color:${line}!important}`,
    `.ink{color:${ink}!important}`,
    `.muted{color:${muted}!important}`,
    `.button{background:${brand}!important}`,
    `.label{color:${brandInk}!important}`,
  ]
  return `:root{color-scheme:light dark}@media(prefers-color-scheme:dark){${rules.join('')}}`
}

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

const escapeHtml = (text: string) => text.replace(/[&<>"']/g, (character) => entities[character] ?? '')
