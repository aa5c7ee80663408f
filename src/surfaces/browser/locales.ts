import { Hono } from 'hono'
import { etag } from 'hono/etag'
import * as z from 'zod'
import { languageNamed } from '../../domain/languages.ts'
import { type Texts, textsOf } from '../../domain/texts.ts'
import type { HttpEnv } from '../../http/environment.ts'
import { anybody, noCredential } from '../../http/open-route.ts'
import { query, returns, summary } from '../../http/route.ts'
import type { Panel } from '../../panel.ts'

const mostNames = 20
const longestList = 255

/** Names parted by blanks, as clients of the ecosystem send them, or by commas. */
const NameList = () =>
  z
    .string()
    .max(longestList, 'max')
    .transform((text) => [...new Set(text.split(/[\s,+]+/).filter(Boolean))])
    .refine((names) => names.length <= mostNames, 'max')

const LocaleQuery = () =>
  z.object({
    locale: NameList().describe('Codes of languages, parted by blanks'),
    namespace: NameList().describe('such as strings, activity, auth or server; parted by blanks'),
  })

const Translations = () => z.record(z.string(), z.record(z.string(), z.record(z.string(), z.unknown())))

/** Spec: Browser authentication, locales. */
export const locales = new Hono<HttpEnv>().get(
  '/locales/locale.json',
  summary('Show texts of the application'),
  noCredential,
  anybody,
  query(LocaleQuery),
  returns(200, Translations),
  etag(),
  async (c) => {
    const { locale, namespace } = c.req.valid('query')
    c.header('cache-control', 'public, max-age=3600, stale-while-revalidate=86400')
    const { panel } = c.var
    return c.json(Object.fromEntries(await each(locale, (name) => textsIn(panel, name, namespace))))
  },
)

/** Under each namespace its texts; nothing where there is no such language or namespace. */
async function textsIn(panel: Panel, locale: string, namespaces: string[]): Promise<Record<string, Texts>> {
  const language = languageNamed(locale)
  if (!language) return {}
  return Object.fromEntries(
    await each(namespaces, async (name) => (await textsOf(panel, language, name)) ?? {}),
  )
}

const each = <Value>(names: string[], valueOf: (name: string) => Promise<Value>) =>
  Promise.all(names.map(async (name) => [name, await valueOf(name)] as const))
