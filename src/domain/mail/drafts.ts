import { and, eq } from 'drizzle-orm'
import { servers, subusers, users } from '../../db/schema.ts'
import type { User } from '../../db/tables/users.ts'
import type { Panel } from '../../panel.ts'
import { setting } from '../settings.ts'
import { invitationDays, type MailOrder, resetMinutes } from './orders.ts'
import type { MailName } from './texts.ts'

/** What a mail says to whom, before its links are made. */
export type Draft = {
  text: MailName
  user: User
  to: string
  /** Beside `panel` and `username`. */
  values: Record<string, string>
  /** A path of the panel, or for how many seconds a link to a new password is good. */
  link: string | { resetSeconds: number }
}

/** The draft of what was ordered, as things stand now; null when there is nobody to write to any more, or no reason. */
export async function draftOf(panel: Panel, order: MailOrder): Promise<Draft | null> {
  switch (order.template) {
    case 'server-access':
      return accessDraft(panel, order)
    case 'server-installed':
    case 'server-reinstalled':
      return installDraft(panel, order)
    default:
      return accountDraft(panel, order)
  }
}

type AccountOrder = Exclude<MailOrder, { serverId: number }>

const accountPages = {
  registered: '/',
  'password-changed': '/',
  'email-changed': '/',
  'passkey-added': '/account',
  'identity-added': '/account',
}

async function accountDraft(panel: Panel, order: AccountOrder): Promise<Draft | null> {
  const [user] =
    order.userId === null ? [] : await panel.db.select().from(users).where(eq(users.id, order.userId))
  if (!user) return null
  const draft = { text: order.template, user, to: user.email, values: {} }
  if (order.template === 'password-reset') {
    const values = { minutes: String(resetMinutes) }
    return { ...draft, values, link: { resetSeconds: resetMinutes * 60 } }
  }
  const to = order.template === 'email-changed' ? order.to : user.email
  return { ...draft, to, link: accountPages[order.template] }
}

async function accessDraft(
  panel: Panel,
  { userId, serverId }: Extract<MailOrder, { template: 'server-access' }>,
): Promise<Draft | null> {
  const [found] = await panel.db
    .select({ user: users, server: servers.name, identifier: servers.uuidShort })
    .from(subusers)
    .innerJoin(users, eq(users.id, subusers.userId))
    .innerJoin(servers, eq(servers.id, subusers.serverId))
    .where(and(eq(subusers.userId, userId), eq(subusers.serverId, serverId)))
  if (!found) return null
  const { user, server, identifier } = found
  const draft = { user, to: user.email, values: { server, days: String(invitationDays) } }
  return user.passwordHash === null
    ? { ...draft, text: 'invitation', link: { resetSeconds: invitationDays * 86_400 } }
    : { ...draft, text: 'server-access', link: `/server/${identifier}` }
}

async function installDraft(
  panel: Panel,
  { template, serverId }: Extract<MailOrder, { template: 'server-installed' | 'server-reinstalled' }>,
): Promise<Draft | null> {
  const isFirst = template === 'server-installed'
  if (!(await setting(panel, isFirst ? 'notifications.install' : 'notifications.reinstall'))) return null
  const [found] = await panel.db
    .select({ user: users, server: servers.name, identifier: servers.uuidShort })
    .from(servers)
    .innerJoin(users, eq(users.id, servers.ownerId))
    .where(eq(servers.id, serverId))
  if (!found) return null
  const { user, server, identifier } = found
  return { text: template, user, to: user.email, values: { server }, link: `/server/${identifier}` }
}
