import type { Message } from '../../adapters/mail.ts'
import type { Panel } from '../../panel.ts'
import type { User } from '../../db/tables/users.ts'
import { createEmailLink, deleteEmailLink } from '../accounts/email-links.ts'
import { createPasswordReset, deletePasswordReset } from '../auth/password-reset-tokens.ts'
import { readIdentity } from '../settings/identity.ts'
import { getSettings } from '../settings/settings.ts'
import { composeMail, sanitizeDisplayName } from './compose.ts'
import { buildDraft, type MailDraft } from './drafts.ts'
import type { MailJob } from './enqueue.ts'
import { renderMailText, resolveMailLanguage } from './texts.ts'

/**
 * Runs the job: sends the mail in the language of its recipient. Links with a token are created here,
 * so that no job contains one, and are deleted when sending fails. Sends nothing when there is no recipient
 * any more.
 */
export async function sendMail(panel: Panel, job: MailJob): Promise<void> {
  const draft = await buildDraft(panel, job)
  if (!draft) return
  const { link, user } = draft
  if (typeof link === 'string') return deliverMail(panel, draft, `${panel.config.url}${link}`)
  const { url, cancel } = await createLink(panel, user, link)
  try {
    await deliverMail(panel, draft, url)
  } catch (error) {
    // The next attempt creates its own link.
    await cancel()
    throw error
  }
}

async function createLink(panel: Panel, user: User, link: Exclude<MailDraft['link'], string>) {
  if ('verifies' in link) {
    const created = await createEmailLink(panel, user, link.verifies)
    return { url: created.url, cancel: () => deleteEmailLink(panel, created) }
  }
  const created = await createPasswordReset(panel, user, link.resetSeconds)
  return { url: created.url, cancel: () => deletePasswordReset(panel, user, created) }
}

async function deliverMail(
  panel: Panel,
  { template, user, to, values }: MailDraft,
  url: string,
): Promise<void> {
  const language = resolveMailLanguage(user.language)
  const { name: panelName } = await readIdentity(panel)
  const names = { panel: panelName, username: user.username, ...values }
  const displayValues = new Map(
    Object.entries(names).map(([name, value]) => [name, sanitizeDisplayName(value)]),
  )
  const { subject, paragraphs, button, footnote } = await renderMailText(language, template, displayValues)
  const { from, accent } = await readLetterhead(panel)
  const look = { language, accent, panel: displayValues.get('panel') ?? panelName }
  const message = composeMail({ ...look, to, subject, paragraphs, button: { label: button, url }, footnote })
  await panel.mail.send({ ...message, from })
}

/** Reads the sender of mails, where null leaves that of the environment, and the accent colour. */
export async function readLetterhead(
  panel: Panel,
): Promise<{ from: Message['from']; accent: string | null }> {
  const settings = await getSettings(panel, ['mail.from_name', 'mail.from_address', 'appearance.accent'])
  const from = { name: settings['mail.from_name'], address: settings['mail.from_address'] }
  return { from, accent: settings['appearance.accent'] }
}
