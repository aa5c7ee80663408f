import { Hono } from 'hono'
import { createMiddleware } from 'hono/factory'
import { html } from 'hono/html'
import { readOutbox } from '../../domain/mail/outbox.ts'
import { forbidden, unauthenticated } from '../../errors.ts'
import { stating } from '../../http/facts.ts'
import { returns, summary } from '../../http/route.ts'
import { type BrowserEnv, browserSession } from './env.ts'

/** An administrator is signed in: the mails hold links by which passwords are chosen. Refuses with 401 and 403. */
const administrator = stating(
  { kind: 'permission', name: 'signed in, administrator' },
  createMiddleware<BrowserEnv>(async (c, next) => {
    if (!c.var.account) throw unauthenticated()
    if (!c.var.account.rootAdmin) throw forbidden()
    await next()
  }),
)

/** Whatever a message says, the page that shows it can do nothing. */
const policy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox"

/** The mails of a panel that has nobody to send them: for its development. */
export const outbox = new Hono<BrowserEnv>().get(
  '/outbox',
  summary('Show the mails that were kept instead of sent'),
  browserSession,
  administrator,
  returns(200),
  async (c) => {
    const messages = await readOutbox(c.var.panel)
    c.header('content-security-policy', policy)
    c.header('referrer-policy', 'no-referrer')
    return c.html(page(messages))
  },
)

const page = (messages: Awaited<ReturnType<typeof readOutbox>>) =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <title>Outbox</title>
      </head>
      <body>
        <h1>Outbox</h1>
        ${messages.length === 0 ? html`<p>No mail has been sent yet.</p>` : messages.map(article)}
      </body>
    </html>`

const article = ({
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
