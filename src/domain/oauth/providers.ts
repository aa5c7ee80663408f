import * as z from 'zod'
import type { OauthClient } from '../../adapters/oauth.ts'
import { notFound } from '../../errors.ts'
import type { Panel } from '../../panel.ts'
import type { Settings } from '../setting-definitions.ts'
import { settingsOf } from '../settings.ts'

/** The providers there can be, in the order in which they are offered. Spec: Browser authentication. */
export const providerIds = ['google', 'github', 'discord', 'oidc'] as const
export type ProviderId = (typeof providerIds)[number]

/** A provider as people see it. */
export type PublicProvider = { id: ProviderId; name: string }

const names: Record<ProviderId, string> = {
  google: 'Google',
  github: 'GitHub',
  discord: 'Discord',
  oidc: 'OpenID Connect',
}

/** The generic provider is called what its administrator calls it. */
const nameOf = (provider: ProviderId, configured: string | null) =>
  (provider === 'oidc' ? configured : null) ?? names[provider]

/** A provider that is switched on: what it knows this panel by, and what people call it. */
export type OpenProvider = OauthClient & { provider: ProviderId; name: string }

/** The settings that say which providers are switched on, and what people call them. */
export const providerSettings = [
  'sign_in.google',
  'sign_in.github',
  'sign_in.discord',
  'sign_in.oidc',
  'sign_in.oidc_name',
] as const

/** What people can sign in with, besides passwords and passkeys: the providers that are switched on. */
export const publicProviders = (
  settings: Pick<Settings, (typeof providerSettings)[number]>,
): PublicProvider[] =>
  providerIds
    .filter((id) => settings[`sign_in.${id}`])
    .map((id) => ({ id, name: nameOf(id, settings['sign_in.oidc_name']) }))

/**
 * The provider as this panel is its client. It sends people back to an address that comes from the configuration
 * alone. Refuses with 404 one that is not switched on. One statement.
 */
export async function openProvider(panel: Panel, provider: ProviderId): Promise<OpenProvider> {
  const settings = await settingsOf(panel, [
    `sign_in.${provider}`,
    `sign_in.${provider}_client_id`,
    `sign_in.${provider}_client_secret`,
    'sign_in.oidc_issuer',
    'sign_in.oidc_name',
  ])
  if (!settings[`sign_in.${provider}`]) throw notFound()
  return {
    provider,
    name: nameOf(provider, settings['sign_in.oidc_name']),
    issuer: provider === 'oidc' ? settings['sign_in.oidc_issuer'] : null,
    clientId: settings[`sign_in.${provider}_client_id`] ?? '',
    clientSecret: settings[`sign_in.${provider}_client_secret`] ?? '',
    redirectUri: `${panel.config.url}/auth/oauth/${provider}/callback`,
  }
}

/** The provider in a path. */
export const ProviderPath = () => z.object({ provider: z.enum(providerIds) })
