import { eq } from 'drizzle-orm'
import { identities, passkeys } from '../../db/schema.ts'
import type { User } from '../../db/tables/users.ts'
import { displayError } from '../../errors.ts'
import type { Panel } from '../../panel.ts'
import type { ProviderId } from '../oauth/providers.ts'
import { arePasskeysUsable } from '../passkeys/relying-party.ts'
import { settingsOf } from '../settings.ts'

const keys = [
  'sign_in.password',
  'sign_in.passkeys',
  'sign_in.google',
  'sign_in.github',
  'sign_in.discord',
  'sign_in.oidc',
  'sign_in.oidc_issuer',
] as const

/**
 * The account can be signed in to by a password, passkey or provider that is switched on. Call it in the
 * transaction that took one of them away, with the account locked. Refuses with 400.
 */
export async function requireWayIn(panel: Panel, user: User): Promise<void> {
  const settings = await settingsOf(panel, keys)
  if (settings['sign_in.password'] && user.passwordHash !== null) return
  if (arePasskeysUsable(panel, settings) && (await hasPasskey(panel, user))) return
  const linked = await panel.db
    .select({ provider: identities.provider, issuer: identities.issuer })
    .from(identities)
    .where(eq(identities.userId, user.id))
  const isOpen = ({ provider, issuer }: (typeof linked)[number]) =>
    settings[`sign_in.${provider as ProviderId}`] &&
    (provider !== 'oidc' || isSameIssuer(issuer, settings['sign_in.oidc_issuer']))
  if (!linked.some(isOpen)) {
    throw displayError('This is the last way to sign in to your account. Add another one first.')
  }
}

/** Identities of an issuer that is no longer the configured one open nothing. */
const isSameIssuer = (one: string, other: string | null) =>
  one.replace(/\/+$/, '') === other?.replace(/\/+$/, '')

async function hasPasskey(panel: Panel, user: User): Promise<boolean> {
  const held = await panel.db
    .select({ id: passkeys.id })
    .from(passkeys)
    .where(eq(passkeys.userId, user.id))
    .limit(1)
  return held.length > 0
}
