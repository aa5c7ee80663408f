import { forbidden } from '../../../errors.ts'
import type { Panel, Tx } from '../../../panel.ts'
import { getSetting } from '../../settings/settings.ts'

/** The domain that passkeys belong to, and the origin of the pages that use them. */
export type RelyingParty = { id: string; origin: string }

/**
 * Returns the relying party from the configured URL. Null where browsers offer no passkeys: over http
 * except on localhost, and under an IP address. W3C Web Authentication Level 3, section 5.1.2.
 */
export function getRelyingParty({ config }: Pick<Panel, 'config'>): RelyingParty | null {
  const { protocol, hostname, origin } = new URL(config.url)
  const isLocal = hostname === 'localhost' || hostname.endsWith('.localhost')
  const isIpAddress = hostname.startsWith('[') || /^[\d.]+$/.test(hostname)
  return !isIpAddress && (protocol === 'https:' || isLocal) ? { id: hostname, origin } : null
}

/** Whether passkeys are switched on and the panel has a secure origin. */
export const arePasskeysAvailable = (tx: Tx, settings: { 'sign_in.passkeys': boolean }): boolean =>
  settings['sign_in.passkeys'] && getRelyingParty(tx) !== null

/** Refuses with 403 while passkeys are switched off or the panel has no secure origin. One statement. */
export async function requirePasskeys(panel: Panel): Promise<RelyingParty> {
  if (!(await getSetting(panel, 'sign_in.passkeys')))
    throw forbidden('passkeys_off', 'Passkeys are switched off.')
  const relyingParty = getRelyingParty(panel)
  if (!relyingParty)
    throw forbidden('passkeys_need_https', 'Passkeys need a panel with a domain name and HTTPS.')
  return relyingParty
}
