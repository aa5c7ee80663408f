/** Who sends: a name that people read, and an address. */
export type Mailbox = { name: string; address: string }

/** A message with a text part, which every reader shows, and an HTML part. */
export type Message = {
  to: string
  /** What stands in place of the sender that the environment names; null where that one stays. */
  from: { [Part in keyof Mailbox]: string | null }
  subject: string
  text: string
  html: string
}

/** A message that went no further than this machine, and when, as an ISO 8601 string. */
export type KeptMessage = Message & { sentAt: string }

/** Delivers mail. */
export type Mailer = {
  /** Throws when the provider refuses or cannot be reached. */
  send: (message: Message) => Promise<void>
  /** The last messages, newest first, where they are kept instead of delivered. */
  outbox?: (limit: number) => Promise<KeptMessage[]>
}

/** How a provider is reached. */
export type HttpMailOptions = {
  /** The provider's own when left out. */
  endpoint?: string | undefined
  token: string
  from: Mailbox
}

/** Mail through an HTTP API that takes `{from, to, subject, text, html}` with a bearer token, as Resend does. */
export const resendMailer = ({
  endpoint = 'https://api.resend.com/emails',
  token,
  from,
}: HttpMailOptions): Mailer =>
  httpMailer(endpoint, { authorization: `Bearer ${token}` }, (message) => ({
    from: writtenMailbox(senderOf(message, from)),
    to: requireAddress(message.to),
    subject: message.subject,
    text: message.text,
    html: message.html,
  }))

/** Mail through an HTTP API that takes `{From, To, Subject, TextBody, HtmlBody}`, as Postmark does. */
export const postmarkMailer = ({
  endpoint = 'https://api.postmarkapp.com/email',
  token,
  from,
}: HttpMailOptions): Mailer =>
  httpMailer(endpoint, { 'x-postmark-server-token': token }, (message) => ({
    From: writtenMailbox(senderOf(message, from)),
    To: requireAddress(message.to),
    Subject: message.subject,
    TextBody: message.text,
    HtmlBody: message.html,
  }))

function httpMailer(
  endpoint: string,
  credential: Record<string, string>,
  bodyOf: (message: Message) => Record<string, string>,
): Mailer {
  return {
    send: async (message) => {
      const answer = await fetch(endpoint, {
        method: 'POST',
        headers: { ...credential, accept: 'application/json', 'content-type': 'application/json' },
        body: JSON.stringify(bodyOf(message)),
        // The token is for this address alone.
        redirect: 'manual',
        signal: AbortSignal.timeout(15_000),
      })
      await answer.body?.cancel()
      if (!answer.ok) throw new Error(`The mail provider answered ${answer.status}.`)
    },
  }
}

/** Whom the message names as its sender, `usual` where it names nobody. */
export const senderOf = ({ from }: Pick<Message, 'from'>, usual: Mailbox): Mailbox => ({
  name: from.name ?? usual.name,
  address: requireAddress(from.address ?? usual.address),
})

/** The address as it came. Throws at what is none, or more than one: lists and headers are made of such. */
export function requireAddress(address: string): string {
  if (!/^[^\s\p{C}<>()[\],;:"\\@]+@[^\s\p{C}<>()[\],;:"\\@]+$/u.test(address)) {
    throw new Error('What should be an e-mail address is none.')
  }
  return address
}

/** Bytes that one encoded word holds: with its frame it may be no longer than 75 characters. */
const mostBytes = 45

/** The mailbox as it stands in a header: names that are not plain are encoded. RFC 5322 and RFC 2047. */
export function writtenMailbox({ name, address }: Mailbox): string {
  if (name === '') return address
  const isPlain = /^[\w !#$%&'*+/=?^`{|}~-]+$/.test(name) && !name.includes('=?')
  return `${isPlain ? `"${name}"` : encodedWords(name)} <${address}>`
}

function encodedWords(text: string): string {
  const encoder = new TextEncoder()
  const parts: string[] = ['']
  for (const character of text.replace(/\p{Cc}+/gu, ' ')) {
    const grown = `${parts.at(-1)}${character}`
    if (encoder.encode(grown).byteLength > mostBytes) parts.push(character)
    else parts[parts.length - 1] = grown
  }
  const encoded = (part: string) => btoa(String.fromCharCode(...encoder.encode(part)))
  return parts.map((part) => `=?UTF-8?B?${encoded(part)}?=`).join(' ')
}
