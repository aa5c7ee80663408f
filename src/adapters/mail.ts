/** A message with a text part, which every reader shows, and an HTML part. */
export type Message = { to: string; subject: string; text: string; html: string }

/** Delivers mail. */
export type Mailer = {
  /** Throws when the provider refuses or cannot be reached. */
  send: (message: Message) => Promise<void>
}

/** Mail through an HTTP API that takes `{from, to, subject, text, html}` with a bearer token, as Resend does. */
export function httpMailer(options: { endpoint: string; token: string; from: string }): Mailer {
  return {
    send: async (message) => {
      const answer = await fetch(options.endpoint, {
        method: 'POST',
        headers: { authorization: `Bearer ${options.token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ from: options.from, ...message }),
        signal: AbortSignal.timeout(15_000),
      })
      if (!answer.ok) throw new Error(`The mail provider answered ${answer.status}.`)
    },
  }
}
