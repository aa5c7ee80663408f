import * as z from 'zod'
import { sendTestMail } from '../../domain/mail/test-mail.ts'
import { email } from '../../domain/fields.ts'
import type { Panel } from '../../panel.ts'
import { OperationError, reasonOf } from '../faults.ts'

/** The input of `mail:test`: the recipient. */
export const MailTestInput = () => z.object({ to: email() })

/** `is_stored` tells that the panel keeps mails in its outbox, because no mail service is configured. */
export type TestedMail = { to: string; is_stored: boolean }

/** Sends a mail with the mailer and the sender that the panel uses. Throws with the reason of the mail service. */
export async function testMail(
  panel: Panel,
  { to }: z.output<ReturnType<typeof MailTestInput>>,
): Promise<TestedMail> {
  try {
    const footnote = 'An administrator requested this mail on the command line.'
    return { to, is_stored: (await sendTestMail(panel, to, footnote)).isStored }
  } catch (error) {
    throw new OperationError(`The mail was not sent: ${reasonOf(error)}`)
  }
}
