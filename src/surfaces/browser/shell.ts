import { html, raw } from 'hono/html'

/** Addresses of what the application's build made, in the order in which they are loaded. */
export type WebAssets = {
  scripts: readonly string[]
  /** What the scripts import, so that it is on its way at once. */
  preloads: readonly string[]
  styles: readonly string[]
}

/** A page before the application has taken it over. */
export type Shell = {
  language: string
  panelName: string
  title: string
  /** What the page is for, for readers without the application. */
  text: string
  /** Said where scripts do not run. */
  noScript: string
  /** Of the scripts in the page; the application reads it from the page for the styles it adds. */
  nonce: string
  /** What forms have to send back. */
  csrf: string
  /** Members of `window` which the application starts with. */
  globals: Readonly<Record<string, unknown>>
  assets: WebAssets
}

/** The panel's mark, in the page itself: a file would be one more request of every page. */
const icon = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><rect width="24" height="24" rx="6" fill="#0c6b58"/>' +
    '<path d="M5 15.5h14M8 15.5c0-5 2.2-8 6.4-8 1.7 0 2.9.8 3.4 2l1.7.7-1.8.9c-.4 2.7-2.4 4.4-5.2 4.4" fill="none" ' +
    'stroke="#fff" stroke-width="1.6" stroke-linecap="round" stroke-linejoin="round"/></svg>',
)}`

/** Dark pages are dark from their first pixel on; what is chosen, the application keeps (src/web/app/theme.ts). */
const earlyTheme = `{
  const chosen = localStorage.getItem('roost.theme')
  const isDark = chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
  document.documentElement.dataset.theme = isDark ? 'dark' : 'light'
}`

/** The document in which the application starts; it is whole without it. Texts are escaped here. */
export const documentOf = (shell: Shell) =>
  html`<!doctype html>
    <html lang="${shell.language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <meta name="csrf-token" content="${shell.csrf}" />
        <meta property="csp-nonce" nonce="${shell.nonce}" />
        <title>${shell.title} · ${shell.panelName}</title>
        <link rel="icon" href="${icon}" />
        ${shell.assets.styles.map((href) => html`<link rel="stylesheet" href="${href}" />`)}
        ${shell.assets.preloads.map((href) => html`<link rel="modulepreload" href="${href}" />`)}
        <script nonce="${shell.nonce}">
          ${raw(`${assignments(shell.globals)}\n${earlyTheme}`)}
        </script>
        ${shell.assets.scripts.map(
          (src) => html`<script type="module" nonce="${shell.nonce}" src="${src}"></script>`,
        )}
      </head>
      <body>
        <div id="app">
          <main>
            <h1>${shell.title}</h1>
            <p>${shell.text}</p>
          </main>
        </div>
        <div id="modal-portal"></div>
        <noscript><p>${shell.noScript}</p></noscript>
      </body>
    </html>`

/** Statements that no value can end: what opens a tag or a comment is written by its number. */
function assignments(globals: Shell['globals']): string {
  return Object.entries(globals)
    .map(([name, value]) => `window.${name} = ${escapedJson(value)};`)
    .join('\n')
}

const escapedJson = (value: unknown) =>
  JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
