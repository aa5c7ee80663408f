import type { Egress } from '../adapters/egress.ts'
import type { HttpMailOptions, Mailbox, Mailer } from '../adapters/mail.ts'
import type { Env } from './env.ts'

/** Opens a mailer over SMTP; bundled only with functions that have sockets and run jobs. */
export type OpenSmtp = (options: { url: string; from: Mailbox; connect: Egress['connect'] }) => Mailer

/** Tells whether the environment names a mailer, which not every function bundles. */
export const isMailConfigured = (env: Env): boolean =>
  Boolean(env.MAIL_DRIVER === 'smtp' ? env.SMTP_URL : env.MAIL_HTTP_TOKEN)

/** Opens the mailer that the environment names, or returns null. `smtp` is null where it is not bundled. */
export function openMailer(env: Env, { fetch, connect }: Egress, smtp: OpenSmtp | null): Mailer | null {
  const { MAIL_DRIVER: driver, MAIL_HTTP_ENDPOINT: endpoint, MAIL_HTTP_TOKEN: token, MAIL_FROM: from } = env
  if (driver === 'smtp') return smtp && env.SMTP_URL ? smtp({ url: env.SMTP_URL, from, connect }) : null
  if (!token) return null
  return lazyHttpMailer(driver, { endpoint, token, from, fetch })
}

/** Sends mail over HTTP, by code that is loaded with the first mail: only jobs send any. */
const lazyHttpMailer = (driver: Env['MAIL_DRIVER'], options: HttpMailOptions): Mailer => ({
  send: async (message) => {
    const { postmarkMailer, resendMailer } = await import('../adapters/mail.ts')
    await (driver === 'postmark' ? postmarkMailer : resendMailer)(options).send(message)
  },
})
