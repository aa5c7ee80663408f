import type { Texts } from '../adapters/texts.ts'
import type { Language } from './languages.ts'
import type { Panel } from '../panel.ts'

export type { Texts } from '../adapters/texts.ts'

/** What of the application's texts can be asked for by itself; `src/locales/<language>/<namespace>.json`. */
export const namespaces = [
  'strings',
  'activity',
  'auth',
  'account',
  'home',
  'server',
  'console',
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
  'docs',
] as const
export type Namespace = (typeof namespaces)[number]

/** The texts of a namespace in one language; null when there is no such namespace. */
export async function textsOf(panel: Panel, language: Language, name: string): Promise<Texts | null> {
  const namespace = namespaces.find((each) => each === name)
  return namespace ? panel.texts.read(language, namespace) : null
}
