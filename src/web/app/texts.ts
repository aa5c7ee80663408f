import i18next, { type BackendModule, type FormatterModule, type ReadCallback } from 'i18next'
import { browserApi, json } from '../api/client.ts'
import { formatNumber } from './formats.ts'
import { site } from './site.ts'

/** Namespaces requested in the same tick are fetched with one request. */
let pending = new Map<string, ReadCallback>()

async function fetchPending(language: string): Promise<void> {
  const batch = pending
  pending = new Map()
  const query = { locale: language, namespace: [...batch.keys()].toSorted().join(' ') }
  try {
    const texts = await json(browserApi.locales['locale.json'].$get({ query }))
    for (const [namespace, read] of batch) read(null, texts[language]?.[namespace] ?? {})
  } catch (error) {
    for (const read of batch.values()) read(error instanceof Error ? error : String(error), null)
  }
}

const backend: BackendModule = {
  type: 'backend',
  init: () => undefined,
  read: (language, namespace, read) => {
    if (pending.size === 0) queueMicrotask(() => void fetchPending(language))
    pending.set(namespace, read)
  },
}

/** Numbers that name something: their digits are not grouped. */
const names = new Set(['port', 'line', 'column', 'id', 'status', 'code'])

/** Writes amounts in texts as the language groups their digits. */
const formatter: FormatterModule = {
  type: 'formatter',
  init: () => undefined,
  add: () => undefined,
  addCached: () => undefined,
  format: (value, _format, _language, options) =>
    typeof value === 'number' && !names.has(String(options?.interpolationkey))
      ? formatNumber(value, 20)
      : value,
}

/** Starts i18next with the texts that every page needs; pages load their own. */
export async function startTexts(): Promise<void> {
  await i18next
    .use(backend)
    .use(formatter)
    .init({
      lng: site.locale,
      // Texts are asked for at once, not after the next frame.
      initAsync: false,
      fallbackLng: false,
      load: 'currentOnly',
      ns: ['strings', 'server', site.user ? 'home' : 'auth'],
      defaultNS: 'strings',
      // React escapes values already.
      interpolation: { escapeValue: false, alwaysFormat: true },
    })
}

/** Loads namespaces while the code of a page is loading. */
export const loadTexts = (...namespaces: string[]): Promise<void> => i18next.loadNamespaces(namespaces)
