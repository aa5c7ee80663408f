import { forbidden } from '../../errors.ts'
import type { Panel } from '../../panel.ts'
import { setting } from '../settings.ts'

/** What passkeys are bound to: they work for this domain, on pages of this origin. */
export type RelyingParty = { id: string; origin: string }

/**
 * The panel as browsers know it, from the configuration alone. Null where they have no passkeys: over http,
 * but on localhost, and under an IP address, which is no domain. Spec: Web Authentication, relying party id.
 */
export function relyingParty({ config }: Pick<Panel, 'config'>): RelyingParty | null {
  const { protocol, hostname, origin } = new URL(config.url)
  const isLocal = hostname === 'localhost' || hostname.endsWith('.localhost')
  const isAddress = hostname.startsWith('[') || /^[\d.]+$/.test(hostname)
  return !isAddress && (protocol === 'https:' || isLocal) ? { id: hostname, origin } : null
}

/** Whether passkeys can be used: they are switched on, and the panel has a secure origin. */
export const arePasskeysUsable = (panel: Panel, settings: { 'sign_in.passkeys': boolean }): boolean =>
  settings['sign_in.passkeys'] && relyingParty(panel) !== null

/** Refuses with 403 while passkeys are switched off, or the panel has no secure origin. One statement. */
export async function requirePasskeys(panel: Panel): Promise<RelyingParty> {
  if (!(await setting(panel, 'sign_in.passkeys'))) throw forbidden('Passkeys are switched off.')
  const party = relyingParty(panel)
  if (!party) throw forbidden('Passkeys need a panel that is reached over https, under a domain.')
  return party
}
