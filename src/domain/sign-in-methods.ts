import type { Session } from '../db/tables/sessions.ts'
import type { Panel } from '../panel.ts'
import { readConfirmationToken } from './oauth/checkpoint.ts'
import { providerSettings, type PublicProvider, publicProviders } from './oauth/providers.ts'
import { arePasskeysUsable } from './passkeys/relying-party.ts'
import { takeFromSession } from './sessions.ts'
import { settingsOf } from './settings.ts'

/** What the page of signing in needs to know. */
export type SignInMethods = {
  passwordsEnabled: boolean
  /** Whether strangers can make an account: with a password. */
  registrationEnabled: boolean
  passkeysEnabled: boolean
  providers: PublicProvider[]
  /** Of the challenge that waits in this session, where it was asked for. */
  confirmationToken: string | null
  /** Why somebody came back from a provider without being signed in; told once. */
  error: string | null
}

/** Ways to sign in, and what a provider left behind in this session. Spec: GET /auth/methods. */
export async function readMethods(
  panel: Panel,
  session: Session | null,
  { asksForCheckpoint }: { asksForCheckpoint: boolean },
): Promise<SignInMethods> {
  const names = ['sign_in.password', 'sign_in.registration', 'sign_in.passkeys', ...providerSettings] as const
  const settings = await settingsOf(panel, names)
  return {
    passwordsEnabled: settings['sign_in.password'],
    registrationEnabled: settings['sign_in.password'] && settings['sign_in.registration'],
    passkeysEnabled: arePasskeysUsable(panel, settings),
    providers: publicProviders(settings),
    confirmationToken: asksForCheckpoint ? await readConfirmationToken(panel, session) : null,
    error: session ? await takeFromSession(panel, session, 'error').then((error) => error ?? null) : null,
  }
}
