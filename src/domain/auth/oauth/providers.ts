import * as z from 'zod'
import type { OauthClient } from '../../../adapters/oauth.ts'
import { notFound } from '../../../errors.ts'
import type { Panel } from '../../../panel.ts'
import type { Settings } from '../../settings/definitions.ts'
import { getSettings } from '../../settings/settings.ts'

/** All supported providers, in the order of the sign-in page. Spec: docs/accounts.md#providers. */
export const providerIds = ['google', 'github', 'discord', 'oidc'] as const
export type ProviderId = (typeof providerIds)[number]

/** A provider as the sign-in page shows it. */
export type PublicProvider = { id: ProviderId; name: string }

const providerNames: Record<ProviderId, string> = {
  google: 'Google',
  github: 'GitHub',
  discord: 'Discord',
  oidc: 'OpenID Connect',
}

/** Returns the display name; administrators choose that of the OpenID Connect provider. */
const getProviderName = (provider: ProviderId, configured: string | null) =>
  (provider === 'oidc' ? configured : null) ?? providerNames[provider]

/** A provider that is switched on, with the client credentials of this panel and its display name. */
export type ProviderConfig = OauthClient & { provider: ProviderId; name: string }

/** Settings that `listPublicProviders` needs. */
export const providerSettings = [
  'sign_in.google',
  'sign_in.github',
  'sign_in.discord',
  'sign_in.oidc',
  'sign_in.oidc_name',
] as const

/** Lists the providers that are switched on. */
export const listPublicProviders = (
  settings: Pick<Settings, (typeof providerSettings)[number]>,
): PublicProvider[] =>
  providerIds
    .filter((id) => settings[`sign_in.${id}`])
    .map((id) => ({ id, name: getProviderName(id, settings['sign_in.oidc_name']) }))

/**
 * Loads the client configuration of a provider. The redirect address comes only from the configuration.
 * Refuses with 404 a provider that is switched off. One statement.
 */
export async function loadProvider(panel: Panel, provider: ProviderId): Promise<ProviderConfig> {
  const settings = await getSettings(panel, [
    `sign_in.${provider}`,
    `sign_in.${provider}_client_id`,
    `sign_in.${provider}_client_secret`,
    'sign_in.oidc_issuer',
    'sign_in.oidc_name',
  ])
  if (!settings[`sign_in.${provider}`]) throw notFound()
  return {
    provider,
    name: getProviderName(provider, settings['sign_in.oidc_name']),
    issuer: provider === 'oidc' ? settings['sign_in.oidc_issuer'] : null,
    clientId: settings[`sign_in.${provider}_client_id`] ?? '',
    clientSecret: settings[`sign_in.${provider}_client_secret`] ?? '',
    redirectUri: `${panel.config.url}/auth/oauth/${provider}/callback`,
  }
}

/** The provider in a path. */
export const ProviderPath = () => z.object({ provider: z.enum(providerIds) })
