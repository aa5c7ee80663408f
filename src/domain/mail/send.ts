import type { Panel } from '../../panel.ts'
import { issuePasswordReset, withdrawPasswordReset } from '../password-resets.ts'
import { settingsOf } from '../settings.ts'
import { composeMail, shownName } from './compose.ts'
import { type Draft, draftOf } from './drafts.ts'
import type { MailOrder } from './orders.ts'
import { mailLanguage, mailText } from './texts.ts'

/**
 * The job: what was ordered is with the provider, in the language of its reader. Links by which a password
 * is chosen are made here, so that no order holds one, and are good for nothing when the mail did not go out.
 * Nothing is sent when there is nobody to write to any more.
 */
export async function sendMail(panel: Panel, order: MailOrder): Promise<void> {
  const draft = await draftOf(panel, order)
  if (!draft) return
  const { link, user } = draft
  if (typeof link === 'string') return deliver(panel, draft, `${panel.config.url}${link}`)
  const reset = await issuePasswordReset(panel, user, link.resetSeconds)
  try {
    await deliver(panel, draft, reset.url)
  } catch (error) {
    // The next attempt makes a link of its own.
    await withdrawPasswordReset(panel, user, reset)
    throw error
  }
}

async function deliver(panel: Panel, { text, user, to, values }: Draft, url: string): Promise<void> {
  const language = mailLanguage(user.language)
  const names = { panel: panel.config.name, username: user.username, ...values }
  const shown = new Map(Object.entries(names).map(([name, value]) => [name, shownName(value)]))
  const { subject, paragraphs, button, footnote } = mailText(language, text, shown)
  const sender = await settingsOf(panel, ['mail.from_name', 'mail.from_address'])
  await panel.mail.send({
    ...composeMail({ to, language, subject, paragraphs, button: { label: button, url }, footnote }),
    from: { name: sender['mail.from_name'], address: sender['mail.from_address'] },
  })
}
