import type { Language } from '../../domain/languages.ts'
import { de } from '../../locales/de.ts'
import { en } from '../../locales/en.ts'
import { es } from '../../locales/es.ts'
import { fr } from '../../locales/fr.ts'
import { pl } from '../../locales/pl.ts'
import { ptBR } from '../../locales/pt-br.ts'
import { ru } from '../../locales/ru.ts'
import { tr } from '../../locales/tr.ts'
import { zhCN } from '../../locales/zh-cn.ts'

/** What of the application's texts can be asked for by itself. */
export type Namespace = keyof typeof en
export const namespaces = Object.keys(en) as Namespace[]

/** Texts by name, in groups. i18next's format: `{{name}}` stands for a value, `_one`, `_few` … for a number's form. */
export type Texts = { [name: string]: string | Texts }

type File = () => Promise<{ default: Texts }>

/** Every file there is. None is read by a name that a caller sent. */
const files: Record<Language, Record<Namespace, File>> = {
  en,
  de,
  fr,
  es,
  'pt-BR': ptBR,
  pl,
  tr,
  ru,
  'zh-CN': zhCN,
}

const byName = new Map(
  Object.entries(files).map(([language, each]) => [language, new Map(Object.entries(each))] as const),
)

/** The texts of a namespace in one language; null when there is no such namespace. */
export async function textsOf(language: Language, namespace: string): Promise<Texts | null> {
  const file = byName.get(language)?.get(namespace)
  return file ? (await file()).default : null
}
