import { Hono } from 'hono'
import { createMiddleware } from 'hono/factory'
import { html } from 'hono/html'
import { readOutbox } from '../../domain/mail/outbox.ts'
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

/** Keeps the page from running anything that a message contains. */
const contentSecurityPolicy =
  "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox"

/** The mails of a panel without a mail service, for development. */
export const outbox = new Hono<BrowserEnv>().get(
  '/outbox',
  summary('Show the outbox'),
  browserSession,
  administrator,
  returns(200),
  async (c) => {
    const messages = await readOutbox(c.var.panel)
    c.header('content-security-policy', contentSecurityPolicy)
    c.header('referrer-policy', 'no-referrer')
    return c.html(renderPage(messages))
  },
)

const renderPage = (messages: Awaited<ReturnType<typeof readOutbox>>) =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <title>Outbox</title>
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
    <summary>${sentAt} to ${to}: ${subject}</summary>
    <pre>${text}</pre>
  </details>`
