import type { Translations } from '../../adapters/locales.ts'
import type { Panel } from '../../panel.ts'
import type { Language } from '../languages.ts'

export type { Translations } from '../../adapters/locales.ts'

/** Namespaces that clients can load separately, as `src/locales/<language>/<namespace>.json`. */
export const namespaces = [
  'strings',
  'activity',
  'auth',
  'account',
  'home',
  'server',
  'console',
  'usage',
  'helpers',
  'files',
  'trash',
  'backups',
  'schedules',
  'databases',
  'network',
  'users',
  'startup',
  'settings',
  'feed',
  'notifications',
  'docs',
  'admin',
  'doctor',
  'moving',
  'refusals',
  'meanings',
] as const
export type Namespace = (typeof namespaces)[number]

/** Reads the texts of a namespace in one language. Returns null for an unknown namespace. */
export async function findTranslations(
  panel: Panel,
  language: Language,
  name: string,
): Promise<Translations | null> {
  const namespace = namespaces.find((each) => each === name)
  return namespace ? panel.locales.read(language, namespace) : null
}
