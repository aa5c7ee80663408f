import type { Panel } from '../../panel.ts'
import { composeMail } from './compose.ts'
import { readLetterhead } from './send.ts'

/**
 * Sends a test mail with the mailer and the sender that the panel uses. Returns whether the panel stored it in its
 * outbox, because no mail service is configured. Throws with the reason of the mail service.
 */
export async function sendTestMail(
  panel: Panel,
  to: string,
  footnote: string,
): Promise<{ isStored: boolean }> {
  const { name, url } = panel.config
  const { from, accent } = await readLetterhead(panel)
  const message = composeMail({
    to,
    language: 'en',
    panel: name,
    accent,
    subject: `Test mail of ${name}`,
    paragraphs: [`The panel ${name} can send mails.`],
    button: { label: `Open ${name}`, url },
    footnote,
  })
  await panel.mail.send({ ...message, from })
  return { isStored: panel.mail.outbox !== undefined }
}
