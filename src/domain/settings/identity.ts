import type { Tx } from '../../panel.ts'
import type { Language } from '../languages.ts'
import { getSettings } from './settings.ts'

/** What the panel is called, and the time zone and the language that it takes where none is named. */
export type Identity = { name: string; timezone: string; language: Language }

/** Reads the identity of the panel: the settings, else the environment. One statement. */
export async function readIdentity(tx: Tx): Promise<Identity> {
  const settings = await getSettings(tx, ['panel.name', 'panel.timezone', 'panel.language'])
  return {
    name: settings['panel.name'] ?? tx.config.name,
    timezone: settings['panel.timezone'] ?? tx.config.timezone,
    language: settings['panel.language'],
  }
}
