import { createHash } from 'node:crypto'
import { Hono } from 'hono'
import * as z from 'zod'
import { findLanguage } from '../../domain/languages.ts'
import { findTranslations, type Translations } from '../../domain/locales/translations.ts'
import type { HttpEnv } from '../../http/http-env.ts'
import { setAnswerHeader } from '../../http/answer-headers.ts'
import { noCredential, noPermission } from '../../http/public-route.ts'
import { sendJson } from '../../http/json-text.ts'
import { query, returns, summary } from '../../http/route.ts'
import type { Panel } from '../../panel.ts'

const maxNames = 30
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

const cacheControl = 'public, max-age=3600, stale-while-revalidate=86400'

/** Whether `If-None-Match` names the tag, as a weak one or not. */
const isCurrentTag = (header: string | undefined, tag: string): boolean =>
  header?.match(/"[^"]*"/g)?.includes(tag) ?? false

/** Spec: getLocalesLocaleJson. */
export const locales = new Hono<HttpEnv>().get(
  '/locales/locale.json',
  summary('Get translations'),
  noCredential,
  noPermission,
  query(LocaleQuery),
  returns(200, LocaleAnswer),
  async (c) => {
    const { locale, namespace } = c.req.valid('query')
    const panel = c.get('panel')
    const text = joinMembers(await mapNames(locale, (name) => textsFor(panel, name, namespace)))
    const tag = `"${createHash('sha1').update(text).digest('hex')}"`
    if (isCurrentTag(c.req.header('if-none-match'), tag)) {
      return c.body(null, 304, { 'cache-control': cacheControl, etag: tag }) as never
    }
    setAnswerHeader(c, 'cache-control', cacheControl)
    setAnswerHeader(c, 'etag', tag)
    return sendJson<Record<string, Record<string, Translations>>>(c, text, { sent: 'fixed' })
  },
)

/** Writes the texts of each namespace as JSON; unknown languages and namespaces are empty. */
async function textsFor(panel: Panel, locale: string, namespaces: string[]): Promise<string> {
  const language = findLanguage(locale)
  if (!language) return '{}'
  return joinMembers(
    await mapNames(namespaces, async (name) => toJson(await findTranslations(panel, language, name))),
  )
}

const written = new WeakMap<Translations, string>()

/** Writes the texts of a file as JSON, once for each. */
function toJson(translations: Translations | null): string {
  if (!translations) return '{}'
  const text = written.get(translations) ?? JSON.stringify(translations)
  written.set(translations, text)
  return text
}

/** Joins members whose values are JSON to an object; names are different. */
const joinMembers = (members: (readonly [name: string, json: string])[]): string =>
  `{${members.map(([name, json]) => `${JSON.stringify(name)}:${json}`).join(',')}}`

const mapNames = <Value>(names: string[], valueOf: (name: string) => Promise<Value>) =>
  Promise.all(names.map(async (name) => [name, await valueOf(name)] as const))
