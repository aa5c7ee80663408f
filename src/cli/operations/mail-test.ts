import * as z from 'zod'
import { composeMail } from '../../domain/mail/compose.ts'
import { readSender } from '../../domain/mail/send.ts'
import { email } from '../../domain/fields.ts'
import type { Panel } from '../../panel.ts'
import { OperationError, reasonOf } from '../faults.ts'

/** The input of `mail:test`: the recipient. */
export const MailTestInput = () => z.object({ to: email() })

/** `is_stored` tells that the panel keeps mails in its outbox, because no mail service is configured. */
export type TestedMail = { to: string; is_stored: boolean }

/** Sends a mail with the mailer and the sender that the panel uses. Throws with the reason of the mail service. */
export async function sendTestMail(
  panel: Panel,
  { to }: z.output<ReturnType<typeof MailTestInput>>,
): Promise<TestedMail> {
  const { name, url } = panel.config
  const message = composeMail({
    to,
    language: 'en',
    subject: `Test mail of ${name}`,
    paragraphs: [`The panel ${name} can send mails.`],
    button: { label: `Open ${name}`, url },
    footnote: 'An administrator requested this mail on the command line.',
  })
  try {
    await panel.mail.send({ ...message, from: await readSender(panel) })
  } catch (error) {
    throw new OperationError(`The mail was not sent: ${reasonOf(error)}`)
  }
  return { to, is_stored: panel.mail.outbox !== undefined }
}
