import { createTransport } from 'nodemailer'
import { type Mailbox, type Mailer, requireEmailAddress, resolveSender } from './mail.ts'

/** Milliseconds for each step of the protocol. */
const timeoutMs = 15_000

export type SmtpMailer = Mailer & {
  /** Connects and logs in, without sending a message. Throws when either fails. */
  verify: () => Promise<void>
}

/** Stricter than `isLoopbackHost`: a subdomain of localhost may be another machine. */
const loopbackHost = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/

/**
 * Creates a mailer over SMTP: `smtp://` uses STARTTLS, `smtps://` TLS. A password requires encryption unless the server
 * is this machine. For platforms with sockets.
 */
export function smtpMailer({ url, from }: { url: string; from: Mailbox }): SmtpMailer {
  const { hostname, username, protocol } = new URL(url)
  const transport = createTransport({
    url,
    requireTLS: protocol === 'smtp:' && username !== '' && !loopbackHost.test(hostname),
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  return {
    verify: async () => void (await transport.verify()),
    send: async (message) => {
      await transport.sendMail({
        from: resolveSender(message, from),
        to: { name: '', address: requireEmailAddress(message.to) },
        subject: message.subject,
        text: message.text,
        html: message.html,
      })
    },
  }
}
