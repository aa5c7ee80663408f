import type { Language } from '../../domain/languages.ts'

/** What of the application's texts can be asked for by itself. */
export const namespaces = ['strings', 'activity', 'auth', 'account', 'server'] as const
export type Namespace = (typeof namespaces)[number]

/** Texts by name, in groups. i18next's format: `{{name}}` stands for a value, `_one`, `_few` … for a number's form. */
export type Texts = { [name: string]: string | Texts }

type File = () => Promise<{ default: Texts }>

/** Every file there is. Each is read when it is first asked for, and none by a name that a caller sent. */
const files: Record<Language, Record<Namespace, File>> = {
  en: {
    strings: () => import('../../locales/en/strings.json', { with: { type: 'json' } }),
    activity: () => import('../../locales/en/activity.json', { with: { type: 'json' } }),
    auth: () => import('../../locales/en/auth.json', { with: { type: 'json' } }),
    account: () => import('../../locales/en/account.json', { with: { type: 'json' } }),
    server: () => import('../../locales/en/server.json', { with: { type: 'json' } }),
  },
  de: {
    strings: () => import('../../locales/de/strings.json', { with: { type: 'json' } }),
    activity: () => import('../../locales/de/activity.json', { with: { type: 'json' } }),
    auth: () => import('../../locales/de/auth.json', { with: { type: 'json' } }),
    account: () => import('../../locales/de/account.json', { with: { type: 'json' } }),
    server: () => import('../../locales/de/server.json', { with: { type: 'json' } }),
  },
  fr: {
    strings: () => import('../../locales/fr/strings.json', { with: { type: 'json' } }),
    activity: () => import('../../locales/fr/activity.json', { with: { type: 'json' } }),
    auth: () => import('../../locales/fr/auth.json', { with: { type: 'json' } }),
    account: () => import('../../locales/fr/account.json', { with: { type: 'json' } }),
    server: () => import('../../locales/fr/server.json', { with: { type: 'json' } }),
  },
  es: {
    strings: () => import('../../locales/es/strings.json', { with: { type: 'json' } }),
    activity: () => import('../../locales/es/activity.json', { with: { type: 'json' } }),
    auth: () => import('../../locales/es/auth.json', { with: { type: 'json' } }),
    account: () => import('../../locales/es/account.json', { with: { type: 'json' } }),
    server: () => import('../../locales/es/server.json', { with: { type: 'json' } }),
  },
  'pt-BR': {
    strings: () => import('../../locales/pt-BR/strings.json', { with: { type: 'json' } }),
    activity: () => import('../../locales/pt-BR/activity.json', { with: { type: 'json' } }),
    auth: () => import('../../locales/pt-BR/auth.json', { with: { type: 'json' } }),
    account: () => import('../../locales/pt-BR/account.json', { with: { type: 'json' } }),
    server: () => import('../../locales/pt-BR/server.json', { with: { type: 'json' } }),
  },
  pl: {
    strings: () => import('../../locales/pl/strings.json', { with: { type: 'json' } }),
    activity: () => import('../../locales/pl/activity.json', { with: { type: 'json' } }),
    auth: () => import('../../locales/pl/auth.json', { with: { type: 'json' } }),
    account: () => import('../../locales/pl/account.json', { with: { type: 'json' } }),
    server: () => import('../../locales/pl/server.json', { with: { type: 'json' } }),
  },
  tr: {
    strings: () => import('../../locales/tr/strings.json', { with: { type: 'json' } }),
    activity: () => import('../../locales/tr/activity.json', { with: { type: 'json' } }),
    auth: () => import('../../locales/tr/auth.json', { with: { type: 'json' } }),
    account: () => import('../../locales/tr/account.json', { with: { type: 'json' } }),
    server: () => import('../../locales/tr/server.json', { with: { type: 'json' } }),
  },
  ru: {
    strings: () => import('../../locales/ru/strings.json', { with: { type: 'json' } }),
    activity: () => import('../../locales/ru/activity.json', { with: { type: 'json' } }),
    auth: () => import('../../locales/ru/auth.json', { with: { type: 'json' } }),
    account: () => import('../../locales/ru/account.json', { with: { type: 'json' } }),
    server: () => import('../../locales/ru/server.json', { with: { type: 'json' } }),
  },
  'zh-CN': {
    strings: () => import('../../locales/zh-CN/strings.json', { with: { type: 'json' } }),
    activity: () => import('../../locales/zh-CN/activity.json', { with: { type: 'json' } }),
    auth: () => import('../../locales/zh-CN/auth.json', { with: { type: 'json' } }),
    account: () => import('../../locales/zh-CN/account.json', { with: { type: 'json' } }),
    server: () => import('../../locales/zh-CN/server.json', { with: { type: 'json' } }),
  },
}

const byName = new Map(
  Object.entries(files).map(([language, each]) => [language, new Map(Object.entries(each))] as const),
)

/** The texts of a namespace in one language; null when there is no such namespace. */
export async function textsOf(language: Language, namespace: string): Promise<Texts | null> {
  const file = byName.get(language)?.get(namespace)
  return file ? (await file()).default : null
}
