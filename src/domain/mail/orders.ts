import type { Panel } from '../../panel.ts'
import { enqueue } from '../jobs.ts'
import { digest } from '../secrets.ts'

/** A mail that is to be sent, by what it is about: whoever sends it looks up the rest, and makes its links. */
export type MailOrder =
  /** Null for an address that nobody has here: nothing is sent, after the same work. */
  | { template: 'password-reset'; userId: number | null }
  | { template: 'registered' | 'password-changed' | 'passkey-added' | 'identity-added'; userId: number }
  /** `to` is the address before the change, or the one after it. */
  | { template: 'email-changed'; userId: number; to: string }
  | { template: 'server-access'; userId: number; serverId: number }
  | { template: 'server-installed' | 'server-reinstalled'; serverId: number }

/** Days for which the link of an invitation is good, and for which its mail is tried to be sent. */
export const invitationDays = 3
/** Minutes for which the link to a new password is good. Spec: Browser authentication, password reset. */
export const resetMinutes = 60

/** A mail will be sent after the commit: call it in the transaction of what it tells about. */
export const enqueueMail = (
  panel: Panel,
  order: MailOrder,
  options: { key?: string; lifetimeSeconds?: number } = {},
): Promise<void> => enqueue(panel, 'send-mail', order, options)

/** A mail will tell the user of his access to the server; without a password yet, with a link to choose one. */
export const enqueueInvitation = (
  panel: Panel,
  { userId, serverId }: { userId: number; serverId: number },
): Promise<void> =>
  enqueueMail(
    panel,
    { template: 'server-access', userId, serverId },
    { key: `server-access:${serverId}:${userId}`, lifetimeSeconds: invitationDays * 86_400 },
  )

/** A mail with a link to a new password will be sent, unless one waits; nobody wants it after an hour. */
export const enqueuePasswordReset = (panel: Panel, address: string, userId: number | null): Promise<void> =>
  enqueueMail(
    panel,
    { template: 'password-reset', userId },
    { key: `password-reset:${digest(address.toLowerCase())}`, lifetimeSeconds: resetMinutes * 60 },
  )

/** A mail will tell the owner that his server is installed, or was installed again, unless one waits. */
export const enqueueInstallNotice = (panel: Panel, serverId: number, isFirst: boolean): Promise<void> =>
  enqueueMail(
    panel,
    { template: isFirst ? 'server-installed' : 'server-reinstalled', serverId },
    { key: `server-installed:${serverId}` },
  )

/** A mail will tell the user that his account has another way of signing in: call it in the transaction that adds it. */
export const announceSignInMethod = (
  panel: Panel,
  userId: number,
  kind: 'passkey' | 'identity',
): Promise<void> => enqueueMail(panel, { template: `${kind}-added`, userId })
