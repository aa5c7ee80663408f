import type { Mailer } from '../adapters/mail.ts'
import type { OpenSmtp } from './mail.ts'

/** Loaded by the first mail: the library is larger than most of the panel's own parts. */
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
