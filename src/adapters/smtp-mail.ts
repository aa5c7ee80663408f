import { createTransport } from 'nodemailer'
import { type Mailbox, type Mailer, requireAddress, senderOf } from './mail.ts'

/** Milliseconds for which the server is waited for, at each step. */
const patience = 15_000

export type SmtpMailer = Mailer & {
  /** Throws unless the server greets and takes name and password, if any. Sends nothing. */
  verify: () => Promise<void>
}

const loopback = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/

/**
 * Mail through a server that speaks SMTP: `smtp://` asks for encryption once connected, `smtps://` begins with
 * it. A password is sent unencrypted to this machine alone. For platforms with sockets.
 */
export function smtpMailer({ url, from }: { url: string; from: Mailbox }): SmtpMailer {
  const { hostname, username, protocol } = new URL(url)
  const transport = createTransport({
    url,
    requireTLS: protocol === 'smtp:' && username !== '' && !loopback.test(hostname),
    connectionTimeout: patience,
    greetingTimeout: patience,
    socketTimeout: patience,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  return {
    verify: async () => void (await transport.verify()),
    send: async (message) => {
      await transport.sendMail({
        from: senderOf(message, from),
        to: { name: '', address: requireAddress(message.to) },
        subject: message.subject,
        text: message.text,
        html: message.html,
      })
    },
  }
}
