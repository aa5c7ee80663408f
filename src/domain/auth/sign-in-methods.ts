import { eq } from 'drizzle-orm'
import { identities, passkeys } from '../../db/schema.ts'
import type { Session } from '../../db/tables/sessions.ts'
import type { User } from '../../db/tables/users.ts'
import { displayError } from '../../errors.ts'
import type { Panel, Tx } from '../../panel.ts'
import { getSettings } from '../settings/settings.ts'
import { readConfirmationToken } from './oauth/checkpoint.ts'
import {
  listPublicProviders,
  type ProviderId,
  providerSettings,
  type PublicProvider,
} from './oauth/providers.ts'
import { arePasskeysAvailable } from './passkeys/relying-party.ts'
import { takeSessionData } from './sessions.ts'

/** What the sign-in page needs. */
export type SignInMethods = {
  passwordsEnabled: boolean
  /** Whether visitors can register an account, with a password. */
  registrationEnabled: boolean
  passkeysEnabled: boolean
  providers: PublicProvider[]
  /** Token of the pending two-factor challenge of this session, when it was requested. */
  confirmationToken: string | null
  /** Why a sign-in at a provider failed; shown once. */
  error: string | null
}

/**
 * Reads the sign-in methods that are switched on, and what a provider left in this session. Spec:
 * getAuthMethods.
 */
export async function readSignInMethods(
  panel: Panel,
  session: Session | null,
  { asksForCheckpoint }: { asksForCheckpoint: boolean },
): Promise<SignInMethods> {
  const names = ['sign_in.password', 'sign_in.registration', 'sign_in.passkeys', ...providerSettings] as const
  const settings = await getSettings(panel, names)
  return {
    passwordsEnabled: settings['sign_in.password'],
    registrationEnabled: settings['sign_in.password'] && settings['sign_in.registration'],
    passkeysEnabled: arePasskeysAvailable(panel, settings),
    providers: listPublicProviders(settings),
    confirmationToken: asksForCheckpoint ? await readConfirmationToken(panel, session) : null,
    error: session ? await takeSessionData(panel, session, 'error').then((error) => error ?? null) : null,
  }
}

const signInSettingKeys = [
  'sign_in.password',
  'sign_in.passkeys',
  'sign_in.google',
  'sign_in.github',
  'sign_in.discord',
  'sign_in.oidc',
  'sign_in.oidc_issuer',
] as const

/**
 * Refuses with 400 when the account has no password, passkey or provider left that is switched on. Call it
 * in the transaction that removed one, with the account locked.
 */
export async function requireRemainingSignInMethod(tx: Tx, user: User): Promise<void> {
  const settings = await getSettings(tx, signInSettingKeys)
  if (settings['sign_in.password'] && user.passwordHash !== null) return
  if (arePasskeysAvailable(tx, settings) && (await hasPasskey(tx, user))) return
  const linked = await tx.db
    .select({ provider: identities.provider, issuer: identities.issuer })
    .from(identities)
    .where(eq(identities.userId, user.id))
  const isUsable = ({ provider, issuer }: (typeof linked)[number]) =>
    settings[`sign_in.${provider as ProviderId}`] &&
    (provider !== 'oidc' || isSameIssuer(issuer, settings['sign_in.oidc_issuer']))
  if (!linked.some(isUsable)) {
    throw displayError('last_sign_in_method', 'This is your last sign-in method. Add another one first.')
  }
}

/** Identities of an issuer that is no longer configured cannot sign in. */
const isSameIssuer = (one: string, other: string | null) =>
  one.replace(/\/+$/, '') === other?.replace(/\/+$/, '')

async function hasPasskey(tx: Tx, user: User): Promise<boolean> {
  const found = await tx.db
    .select({ id: passkeys.id })
    .from(passkeys)
    .where(eq(passkeys.userId, user.id))
    .limit(1)
  return found.length > 0
}
