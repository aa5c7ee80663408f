import type { StoredMessage } from '../../adapters/mail.ts'
import { notFound } from '../../errors.ts'
import type { Panel } from '../../panel.ts'

const maxListedMessages = 50

/**
 * Lists the last 50 mails, newest first, when mail is stored instead of sent. Refuses with 404 when it is
 * sent.
 */
export async function readOutbox({ mail }: Panel): Promise<StoredMessage[]> {
  if (!mail.outbox) throw notFound()
  return mail.outbox(maxListedMessages)
}
