import { html, raw } from 'hono/html'

/** URLs of the application's files, in the order in which they are loaded. */
export type WebAssets = {
  scripts: readonly string[]
  /** Modules that the scripts import, loaded at the same time. */
  preloads: readonly string[]
  styles: readonly string[]
}

/** A page before the application starts in it. */
export type PageDocument = {
  language: string
  panelName: string
  title: string
  /** Describes the page to readers without the application. */
  text: string
  /** Shown where scripts do not run. */
  noScript: string
  /** URL of the icon; null for the panel's own. */
  icon: string | null
  /** `#rrggbb` of the panel's own icon. */
  iconColour: string
  /** Style sheet over that of the application, if any. */
  style: string | null
  /** Nonce of the inline scripts and styles; the application reads it for the styles it adds. */
  nonce: string
  /** Token that forms send back. */
  csrf: string
  /** Members of `window` that the application reads when it starts. */
  globals: Readonly<Record<string, unknown>>
  assets: WebAssets
  /** URLs of the requests with which the application begins; they are made while its code is loading. */
  requests: readonly string[]
  /** Where the panel is, when the page seems to be opened elsewhere; the application starts only at this origin. */
  address: { origin: string; url: string; title: string; text: string } | null
}

/** The panel's icon in its colour, inline: a file would be one more request per page. */
const ownIcon = (colour: string) =>
  `data:image/svg+xml,${encodeURIComponent(
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><rect width="24" height="24" rx="6" fill="${colour}"/>` +
      '<path d="M5 15.5h14M8 15.5c0-5 2.2-8 6.4-8 1.7 0 2.9.8 3.4 2l1.7.7-1.8.9c-.4 2.7-2.4 4.4-5.2 4.4" fill="none" ' +
      'stroke="#fff" stroke-width="1.6" stroke-linecap="round" stroke-linejoin="round"/></svg>',
  )}`

/** Sets the theme before the first paint, around the page too; src/web/app/theme.ts stores the choice and has the colours. */
const themeScript = `{
  const chosen = localStorage.getItem('roost.theme')
  const isDark = chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
  document.documentElement.dataset.theme = isDark ? 'dark' : 'light'
  if (isDark) document.querySelector('meta[name=theme-color]').content = '#161c19'
}`

/** Renders the document in which the application starts; escapes texts. */
export const renderDocument = (page: PageDocument) =>
  html`<!doctype html>
    <html lang="${page.language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="theme-color" content="#ffffff" />
        <meta name="robots" content="noindex" />
        <meta name="csrf-token" content="${page.csrf}" />
        <meta property="csp-nonce" nonce="${page.nonce}" />
        <title>${page.title} · ${page.panelName}</title>
        <link rel="icon" href="${page.icon ?? ownIcon(page.iconColour)}" />
        <link rel="apple-touch-icon" href="/apple-touch-icon.png" />
        <link rel="manifest" href="/manifest.webmanifest" />
        ${page.assets.styles.map((href) => html`<link rel="stylesheet" href="${href}" />`)}
        ${styleElement(page)}
        ${page.assets.preloads.map((href) => html`<link rel="modulepreload" href="${href}" />`)}
        ${page.requests.map((href) => html`<link rel="preload" as="fetch" crossorigin href="${href}" />`)}
        <script nonce="${page.nonce}">
          ${raw(`${globalAssignments(page.globals)}\n${themeScript}`)}
        </script>
        ${page.assets.scripts.map(
          (src) => html`<script type="module" nonce="${page.nonce}" src="${src}"></script>`,
        )}
      </head>
      <body>
        <div id="app">${mainElement(page)}</div>
        <div id="modal-portal"></div>
        <noscript><p>${page.noScript}</p></noscript>
      </body>
    </html>`

/** Describes the page, or says where the panel is. */
const mainElement = ({ address, title, text }: PageDocument) =>
  address
    ? html`<main data-panel-origin="${address.origin}">
        <h1>${address.title}</h1>
        <p>${address.text}</p>
        <p><a href="${address.url}">${address.origin}</a></p>
      </main>`
    : html`<main>
        <h1>${title}</h1>
        <p>${text}</p>
      </main>`

const styleElement = ({ style, nonce }: PageDocument) =>
  style === null
    ? ''
    : html`<style nonce="${nonce}">
        ${raw(style)}
      </style>`

/** Writes assignments in which no value can end the script: angle brackets and line separators are escaped. */
function globalAssignments(globals: PageDocument['globals']): string {
  return Object.entries(globals)
    .map(([name, value]) => `window.${name} = ${escapedJson(value)};`)
    .join('\n')
}

const escapedJson = (value: unknown) =>
  JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
