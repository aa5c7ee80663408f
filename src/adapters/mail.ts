import type { Egress } from './egress.ts'

/** A display name and an e-mail address. */
export type Mailbox = { name: string; address: string }

/** A message with a text part and an HTML part. */
export type Message = {
  to: string
  /** Overrides the sender of the environment; null keeps its value. */
  from: { [Part in keyof Mailbox]: string | null }
  subject: string
  text: string
  html: string
}

/** A message that was stored instead of sent, with the time in ISO 8601. */
export type StoredMessage = Message & { sentAt: string }

/** Sends mail. */
export type Mailer = {
  /** Throws when the provider rejects the message or cannot be reached. */
  send: (message: Message) => Promise<void>
  /** Lists the last messages, newest first, where messages are stored instead of sent. */
  outbox?: (limit: number) => Promise<StoredMessage[]>
}

export type HttpMailOptions = {
  /** The provider's endpoint when left out. */
  endpoint?: string | undefined
  token: string
  from: Mailbox
  /** Sends the requests. */
  fetch: Egress['fetch']
}

/** Creates a mailer over an HTTP API like Resend's: `{from, to, subject, text, html}` with a bearer token. */
export const resendMailer = ({
  endpoint = 'https://api.resend.com/emails',
  token,
  from,
  fetch: send,
}: HttpMailOptions): Mailer =>
  httpMailer(send, endpoint, { authorization: `Bearer ${token}` }, (message) => ({
    from: formatMailbox(resolveSender(message, from)),
    to: requireEmailAddress(message.to),
    subject: message.subject,
    text: message.text,
    html: message.html,
  }))

/** Creates a mailer over an HTTP API like Postmark's: `{From, To, Subject, TextBody, HtmlBody}`. */
export const postmarkMailer = ({
  endpoint = 'https://api.postmarkapp.com/email',
  token,
  from,
  fetch: send,
}: HttpMailOptions): Mailer =>
  httpMailer(send, endpoint, { 'x-postmark-server-token': token }, (message) => ({
    From: formatMailbox(resolveSender(message, from)),
    To: requireEmailAddress(message.to),
    Subject: message.subject,
    TextBody: message.text,
    HtmlBody: message.html,
  }))

function httpMailer(
  request: Egress['fetch'],
  endpoint: string,
  credential: Record<string, string>,
  bodyOf: (message: Message) => Record<string, string>,
): Mailer {
  return {
    send: async (message) => {
      const response = await request(endpoint, {
        method: 'POST',
        headers: { ...credential, accept: 'application/json', 'content-type': 'application/json' },
        body: JSON.stringify(bodyOf(message)),
        signal: AbortSignal.timeout(15_000),
      })
      await response.body?.cancel()
      if (!response.ok) throw new Error(`The mail provider answered ${response.status}.`)
    },
  }
}

/** Returns the sender of a message: its own name and address where it has them, otherwise those of `defaultSender`. */
export const resolveSender = ({ from }: Pick<Message, 'from'>, defaultSender: Mailbox): Mailbox => ({
  name: from.name ?? defaultSender.name,
  address: requireEmailAddress(from.address ?? defaultSender.address),
})

/** Returns the address. Throws unless it is exactly one e-mail address: others could add recipients or headers. */
export function requireEmailAddress(address: string): string {
  if (!/^[^\s\p{C}<>()[\],;:"\\@]+@[^\s\p{C}<>()[\],;:"\\@]+$/u.test(address)) {
    throw new Error('An e-mail address is invalid.')
  }
  return address
}

/** Bytes of one encoded word, whose encoded form must not exceed 75 characters. */
const maxWordBytes = 45

/** Formats a mailbox for a header, with encoded words where the name is not plain ASCII. RFC 5322, RFC 2047. */
export function formatMailbox({ name, address }: Mailbox): string {
  if (name === '') return address
  const isPlain = /^[\w !#$%&'*+/=?^`{|}~-]+$/.test(name) && !name.includes('=?')
  return `${isPlain ? `"${name}"` : encodeWords(name)} <${address}>`
}

function encodeWords(text: string): string {
  const encoder = new TextEncoder()
  const parts: string[] = ['']
  for (const character of text.replace(/\p{Cc}+/gu, ' ')) {
    const candidate = `${parts.at(-1)}${character}`
    if (encoder.encode(candidate).byteLength > maxWordBytes) parts.push(character)
    else parts[parts.length - 1] = candidate
  }
  const encodePart = (part: string) => btoa(String.fromCharCode(...encoder.encode(part)))
  return parts.map((part) => `=?UTF-8?B?${encodePart(part)}?=`).join(' ')
}
