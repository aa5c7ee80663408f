import { Hono } from 'hono'
import { etag } from 'hono/etag'
import * as z from 'zod'
import { findLanguage } from '../../domain/languages.ts'
import { findTranslations, type Translations } from '../../domain/locales/translations.ts'
import type { HttpEnv } from '../../http/http-env.ts'
import { noCredential, noPermission } from '../../http/public-route.ts'
import { query, returns, summary } from '../../http/route.ts'
import type { Panel } from '../../panel.ts'

const maxNames = 20
const maxListLength = 255

/** Names separated by spaces, as clients of the ecosystem send them, or by commas. */
const NameList = () =>
  z
    .string()
    .max(maxListLength, 'max')
    .transform((text) => [...new Set(text.split(/[\s,+]+/).filter(Boolean))])
    .refine((names) => names.length <= maxNames, 'max')

const LocaleQuery = () =>
  z.object({
    locale: NameList().describe('Language codes, separated by spaces'),
    namespace: NameList().describe('Such as strings, activity, auth or server; separated by spaces'),
  })

const LocaleAnswer = () => z.record(z.string(), z.record(z.string(), z.record(z.string(), z.unknown())))

/** Spec: getLocalesLocaleJson. */
export const locales = new Hono<HttpEnv>().get(
  '/locales/locale.json',
  summary('Get translations'),
  noCredential,
  noPermission,
  query(LocaleQuery),
  returns(200, LocaleAnswer),
  etag(),
  async (c) => {
    const { locale, namespace } = c.req.valid('query')
    c.header('cache-control', 'public, max-age=3600, stale-while-revalidate=86400')
    const { panel } = c.var
    return c.json(
      Object.fromEntries(await mapNames(locale, (name) => translationsFor(panel, name, namespace))),
    )
  },
)

/** Returns the texts of each namespace; unknown languages and namespaces are empty. */
async function translationsFor(
  panel: Panel,
  locale: string,
  namespaces: string[],
): Promise<Record<string, Translations>> {
  const language = findLanguage(locale)
  if (!language) return {}
  return Object.fromEntries(
    await mapNames(namespaces, async (name) => (await findTranslations(panel, language, name)) ?? {}),
  )
}

const mapNames = <Value>(names: string[], valueOf: (name: string) => Promise<Value>) =>
  Promise.all(names.map(async (name) => [name, await valueOf(name)] as const))
