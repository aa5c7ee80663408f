import { type Mailbox, type Mailer, postmarkMailer, resendMailer } from '../adapters/mail.ts'
import type { Env } from './env.ts'

/** How mail is sent through a server; only what has sockets and runs jobs carries it. */
export type OpenSmtp = (options: { url: string; from: Mailbox }) => Mailer

/** The mailer that the environment names; null when it names none. `smtp` is null where none is carried. */
export function openMailer(env: Env, smtp: OpenSmtp | null): Mailer | null {
  const { MAIL_DRIVER: driver, MAIL_HTTP_ENDPOINT: endpoint, MAIL_HTTP_TOKEN: token, MAIL_FROM: from } = env
  if (driver === 'smtp') return smtp && env.SMTP_URL ? smtp({ url: env.SMTP_URL, from }) : null
  if (!token) return null
  return (driver === 'postmark' ? postmarkMailer : resendMailer)({ endpoint, token, from })
}
