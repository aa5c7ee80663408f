import { Hono } from 'hono'
import { createMiddleware } from 'hono/factory'
import { html, raw } from 'hono/html'
import { readOutbox } from '../../domain/mail/outbox.ts'
import { randomText } from '../../domain/secrets.ts'
import { forbidden, unauthenticated } from '../../errors.ts'
import { withMetadata } from '../../http/metadata.ts'
import { returns, summary } from '../../http/route.ts'
import { type BrowserEnv, browserSession } from './middleware.ts'

/** Requires a signed-in administrator: mails contain links that reset passwords. Refuses with 401 and 403. */
const administrator = withMetadata(
  { kind: 'permission', name: 'signed in, administrator' },
  createMiddleware<BrowserEnv>(async (c, next) => {
    if (!c.var.account) throw unauthenticated()
    if (!c.var.account.rootAdmin) throw forbidden()
    await next()
  }),
)

/** Keeps the page from running anything that a message contains; it has its own style alone. */
const contentSecurityPolicy = (nonce: string) =>
  `default-src 'none'; style-src 'nonce-${nonce}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox`

const nonceLength = 24

const style = `
  :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
  body { max-width: 46rem; margin: 0 auto; padding: 1.5rem 1rem }
  details { border: 1px solid color-mix(in srgb, currentColor 25%, transparent); border-radius: 0.5rem; margin-top: 0.75rem }
  summary { cursor: pointer; padding: 0.75rem 1rem; overflow-wrap: anywhere }
  summary strong, summary small { display: block }
  pre { margin: 0; padding: 0 1rem 1rem; font: inherit; white-space: pre-wrap; overflow-wrap: anywhere }
`

/** The mails of a panel without a mail service, for development. */
export const outbox = new Hono<BrowserEnv>().get(
  '/outbox',
  summary('Show the outbox'),
  browserSession,
  administrator,
  returns(200),
  async (c) => {
    const messages = await readOutbox(c.var.panel)
    const nonce = randomText(nonceLength)
    c.header('content-security-policy', contentSecurityPolicy(nonce))
    c.header('referrer-policy', 'no-referrer')
    return c.html(renderPage(messages, nonce))
  },
)

const renderPage = (messages: Awaited<ReturnType<typeof readOutbox>>, nonce: string) =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>Outbox</title>
        <style nonce="${nonce}">
          ${raw(style)}
        </style>
      </head>
      <body>
        <h1>Outbox</h1>
        ${messages.length === 0 ? html`<p>No mail has been sent yet.</p>` : messages.map(renderMessage)}
      </body>
    </html>`

const renderMessage = ({
  sentAt,
  to,
  subject,
  text,
}: {
  sentAt: string
  to: string
  subject: string
  text: string
}) =>
  html`<details>
    <summary><strong>${subject}</strong><small>${to} · ${sentAt}</small></summary>
    <pre>${text}</pre>
  </details>`
