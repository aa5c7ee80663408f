import type { Mailer } from '../adapters/mail.ts'
import type { OpenSmtp } from './mail.ts'

/** Opens a mailer over SMTP that loads its library with the first mail, since it is large. */
export const openSmtp: OpenSmtp = (options) => {
  let opened: Mailer | null = null
  return {
    send: async (message) => {
      const { smtpMailer } = await import('../adapters/smtp-mail.ts')
      opened ??= smtpMailer(options)
      await opened.send(message)
    },
  }
}
