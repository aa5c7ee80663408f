import { createTransport } from 'nodemailer'
import type { Egress } from './egress.ts'
import { type Mailbox, type Mailer, requireEmailAddress, resolveSender } from './mail.ts'

/** Milliseconds for each step of the protocol. */
const timeoutMs = 15_000

/** Ports of servers for which the URL names none, as the library has them. */
const defaultPorts: Record<string, number> = { 'smtp:': 587, 'smtps:': 465 }

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
export function smtpMailer({
  url,
  from,
  connect,
}: {
  url: string
  from: Mailbox
  /** Opens the connections. */
  connect: Egress['connect']
}): SmtpMailer {
  const { hostname, username, protocol } = new URL(url)
  const transport = createTransport({
    url,
    getSocket: ({ host = hostname, port }, done) => {
      const address = { host, port: Number(port) || defaultPorts[protocol] || 25 }
      void open(connect, address, done)
    },
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

/** Gives a connection to the library, which takes those of Node; only the platform names their type. */
async function open(
  connect: Egress['connect'],
  address: { host: string; port: number },
  done: (error: Error | null, socket: { connection: never } | false) => void,
): Promise<void> {
  let connection: unknown
  try {
    connection = await connect(address, AbortSignal.timeout(timeoutMs))
  } catch (error) {
    return done(error as Error, false)
  }
  return done(null, { connection: connection as never })
}
