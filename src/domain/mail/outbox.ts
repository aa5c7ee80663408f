import type { KeptMessage } from '../../adapters/mail.ts'
import { notFound } from '../../errors.ts'
import type { Panel } from '../../panel.ts'

const mostShown = 50

/** The last 50 mails, newest first, where they are kept instead of sent. Refuses with 404 where mail goes out. */
export async function readOutbox({ mail }: Panel): Promise<KeptMessage[]> {
  if (!mail.outbox) throw notFound()
  return mail.outbox(mostShown)
}
