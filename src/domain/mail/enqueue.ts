import type { Tx } from '../../panel.ts'
import { emailLinkHours } from '../accounts/email-links.ts'
import { enqueueJob } from '../jobs/enqueue.ts'
import { digest } from '../secrets.ts'

/** A mail to send, by ids: `sendMail` looks up the rest and creates its links. */
export type MailJob =
  /** Null for an address without an account: nothing is sent, after the same work. */
  | { template: 'password-reset' | 'sign-in-attempts'; userId: number | null }
  | { template: 'registered' | 'password-changed' | 'passkey-added' | 'identity-added'; userId: number }
  | { template: 'account-created' | 'password-removed' | 'two-factor-reset'; userId: number }
  /** `to` is the old or the new address. */
  | { template: 'email-changed'; userId: number; to: string }
  /** Sent to the address that waits for a link when the mail is sent. */
  | { template: 'email-verification'; userId: number }
  /** `email` is the address that another account verified. */
  | { template: 'email-released'; userId: number; email: string }
  | { template: 'server-access'; userId: number; serverId: number }
  | { template: 'server-installed' | 'server-reinstalled' | 'server-install-failed'; serverId: number }
  /** Enqueued by `notifyUsers`, with the template of its kind. */
  | { template: 'notification'; notificationId: number }

/** Days for which the link of an invitation or a new account is valid, and for which its mail is retried. */
export const invitationDays = 3
/** Minutes for which the link to set a new password is valid. Spec: docs/accounts.md#forgotten-passwords. */
export const resetMinutes = 60

/** Enqueues a mail, which is sent after the commit. Call it in the transaction of the change. */
export const enqueueMail = (
  tx: Tx,
  job: MailJob,
  options: { key?: string; lifetimeSeconds?: number } = {},
): Promise<void> => enqueueJob(tx, 'send-mail', job, options)

/** Enqueues the mail about access to a server; a user without a password gets a link to set one. */
export const enqueueInvitation = (
  tx: Tx,
  { userId, serverId }: { userId: number; serverId: number },
): Promise<void> =>
  enqueueMail(
    tx,
    { template: 'server-access', userId, serverId },
    { key: `server-access:${serverId}:${userId}`, lifetimeSeconds: invitationDays * 86_400 },
  )

/** Enqueues the mail with a link to set a new password, unless one waits. It is dropped after an hour. */
export const enqueuePasswordReset = (tx: Tx, address: string, userId: number | null): Promise<void> =>
  enqueueMail(
    tx,
    { template: 'password-reset', userId },
    { key: `password-reset:${digest(address.toLowerCase())}`, lifetimeSeconds: resetMinutes * 60 },
  )

/** Enqueues the mail with a link that verifies the address of the account, unless one waits. */
export const enqueueEmailVerification = (tx: Tx, userId: number): Promise<void> =>
  enqueueMail(
    tx,
    { template: 'email-verification', userId },
    { key: `email-verification:${userId}`, lifetimeSeconds: emailLinkHours * 3600 },
  )

/** Enqueues the mail to the owner about an installed or reinstalled server, unless one waits. */
export const enqueueInstallNotice = (tx: Tx, serverId: number, isFirstInstall: boolean): Promise<void> =>
  enqueueMail(
    tx,
    { template: isFirstInstall ? 'server-installed' : 'server-reinstalled', serverId },
    { key: `server-installed:${serverId}` },
  )

/** Enqueues the mail to the owner about an installation that failed without a report of the node. */
export const enqueueInstallFailureNotice = (tx: Tx, serverId: number): Promise<void> =>
  enqueueMail(
    tx,
    { template: 'server-install-failed', serverId },
    { key: `server-install-failed:${serverId}` },
  )

/** Enqueues a mail with a link to choose a password, for as long as the link is valid. */
export const enqueuePasswordChoice = (
  tx: Tx,
  template: 'account-created' | 'password-removed',
  userId: number,
): Promise<void> => enqueueMail(tx, { template, userId }, { lifetimeSeconds: invitationDays * 86_400 })

/** Enqueues the warning about many wrong passwords; without an account nothing is sent, after the same work. */
export const enqueueSignInWarning = (tx: Tx, userId: number | null): Promise<void> =>
  enqueueMail(tx, { template: 'sign-in-attempts', userId })

/** Enqueues the mail about a new sign-in method. Call it in the transaction that adds it. */
export const enqueueSignInMethodNotice = (
  tx: Tx,
  userId: number,
  kind: 'passkey' | 'identity',
): Promise<void> => enqueueMail(tx, { template: `${kind}-added`, userId })
