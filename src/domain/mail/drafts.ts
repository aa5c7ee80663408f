import { and, eq, isNull } from 'drizzle-orm'
import { notifications, servers, subusers, users } from '../../db/schema.ts'
import type { User } from '../../db/tables/users.ts'
import type { Panel } from '../../panel.ts'
import { isReleasedEmail } from '../accounts/email-claims.ts'
import { emailLinkHours } from '../accounts/email-links.ts'
import { unverifiedEmailOf } from '../accounts/email.ts'
import { kinds, wantsMail } from '../notifications/kinds.ts'
import { isVisible } from '../notifications/notifications.ts'
import { getSetting, getSettings } from '../settings/settings.ts'
import { invitationDays, type MailJob, resetMinutes } from './enqueue.ts'
import type { MailTemplate } from './texts.ts'

/** A mail before its link is created. */
export type MailDraft = {
  template: MailTemplate
  user: User
  to: string
  /** Values besides `panel` and `username`. */
  values: Record<string, string>
  /** A path of the panel, the lifetime of a link to set a new password, or the address that a link verifies. */
  link: string | { resetSeconds: number } | { verifies: string }
}

/**
 * Builds the draft of a mail job from the current data. Returns null when there is no recipient or no
 * reason any more.
 */
export async function buildDraft(panel: Panel, job: MailJob): Promise<MailDraft | null> {
  const draft = await draftMail(panel, job)
  return draft && !isReleasedEmail(draft.to) ? draft : null
}

async function draftMail(panel: Panel, job: MailJob): Promise<MailDraft | null> {
  switch (job.template) {
    case 'server-access':
      return draftAccessMail(panel, job)
    case 'server-installed':
    case 'server-reinstalled':
    case 'server-install-failed':
      return draftInstallMail(panel, job)
    case 'notification':
      return draftNotificationMail(panel, job)
    default:
      return draftAccountMail(panel, job)
  }
}

type AccountMailJob = Exclude<MailJob, { serverId: number } | { notificationId: number }>

const accountPages = {
  registered: '/',
  'password-changed': '/',
  'email-changed': '/',
  'email-released': '/account',
  'passkey-added': '/account',
  'identity-added': '/account',
  'two-factor-reset': '/account/sign-in',
  'sign-in-attempts': '/account/sign-in',
}

async function draftAccountMail(panel: Panel, job: AccountMailJob): Promise<MailDraft | null> {
  const [user] =
    job.userId === null ? [] : await panel.db.select().from(users).where(eq(users.id, job.userId))
  if (!user) return null
  const draft = { template: job.template, user, to: user.email, values: {} }
  if (job.template === 'password-reset') {
    const values = { minutes: String(resetMinutes) }
    return { ...draft, values, link: { resetSeconds: resetMinutes * 60 } }
  }
  if (job.template === 'account-created' || job.template === 'password-removed') {
    const isOff = job.template === 'account-created' && !(await isPasswordMailOn(panel))
    const values = { days: String(invitationDays) }
    return isOff ? null : { ...draft, values, link: { resetSeconds: invitationDays * 86_400 } }
  }
  if (job.template === 'email-verification') {
    const to = unverifiedEmailOf(user)
    const values = { hours: String(emailLinkHours) }
    return to === null ? null : { ...draft, to, values, link: { verifies: to } }
  }
  if (job.template === 'email-released') {
    // An unverified address of the account may belong to another user.
    const values = { email: job.email }
    return user.emailVerifiedAt ? { ...draft, values, link: accountPages['email-released'] } : null
  }
  const to = job.template === 'email-changed' ? job.to : user.email
  return { ...draft, to, link: accountPages[job.template] }
}

/** A password is of no use while signing in with one is switched off. */
async function isPasswordMailOn(panel: Panel): Promise<boolean> {
  const settings = await getSettings(panel, ['notifications.account_created', 'sign_in.password'])
  return settings['notifications.account_created'] && settings['sign_in.password']
}

async function draftAccessMail(
  panel: Panel,
  { userId, serverId }: Extract<MailJob, { template: 'server-access' }>,
): Promise<MailDraft | null> {
  const [found] = await panel.db
    .select({
      user: users,
      server: servers.name,
      identifier: servers.uuidShort,
      pending: subusers.pending,
      isWanted: wantsMail('server.invited'),
    })
    .from(subusers)
    .innerJoin(users, eq(users.id, subusers.userId))
    .innerJoin(servers, eq(servers.id, subusers.serverId))
    .where(and(eq(subusers.userId, userId), eq(subusers.serverId, serverId)))
  if (!found) return null
  const { user, server, identifier, pending, isWanted } = found
  const draft = { user, to: user.email, values: { server, days: String(invitationDays) } }
  const link = { resetSeconds: invitationDays * 86_400 }
  if (user.passwordHash === null) return { ...draft, template: 'invitation', link }
  // The user of the account need not have the address. The link gives the account to its reader.
  if (pending) return { ...draft, template: 'invitation-claimed', link }
  return isWanted ? { ...draft, template: 'server-access', link: `/server/${identifier}` } : null
}

async function draftInstallMail(
  panel: Panel,
  {
    template,
    serverId,
  }: Extract<MailJob, { template: 'server-installed' | 'server-reinstalled' | 'server-install-failed' }>,
): Promise<MailDraft | null> {
  const setting = template === 'server-reinstalled' ? 'notifications.reinstall' : 'notifications.install'
  if (!(await getSetting(panel, setting))) return null
  const [found] = await panel.db
    .select({
      user: users,
      server: servers.name,
      identifier: servers.uuidShort,
      isWanted: wantsMail(template === 'server-install-failed' ? 'install.failed' : 'install.completed'),
    })
    .from(servers)
    .innerJoin(users, eq(users.id, servers.ownerId))
    .where(eq(servers.id, serverId))
  if (!found?.isWanted) return null
  const { user, server, identifier } = found
  return { template, user, to: user.email, values: { server }, link: `/server/${identifier}` }
}

/** Pages of a server that the mails about notifications lead to, by the part of the kind before its point. */
const notificationPages: Record<string, string> = {
  backup: '/backups',
  restore: '/backups',
  schedule: '/schedules',
}

/** Nothing is sent about what was read meanwhile, or is not the user's to see any more. */
async function draftNotificationMail(
  panel: Panel,
  { notificationId }: Extract<MailJob, { template: 'notification' }>,
): Promise<MailDraft | null> {
  const [found] = await panel.db
    .select({ user: users, server: servers.name, identifier: servers.uuidShort, notification: notifications })
    .from(notifications)
    .innerJoin(users, eq(users.id, notifications.userId))
    .innerJoin(servers, eq(servers.id, notifications.serverId))
    .where(and(eq(notifications.id, notificationId), isNull(notifications.readAt), isVisible()))
  const template = found && kinds[found.notification.kind].template
  if (!template) return null
  const { user, server, identifier, notification } = found
  const page = notificationPages[notification.kind.split('.', 1)[0] ?? ''] ?? ''
  const values = { server, name: String(notification.properties.name ?? '') }
  return { template, user, to: user.email, values, link: `/server/${identifier}${page}` }
}
