import i18next, { type BackendModule, type ReadCallback } from 'i18next'
import { initReactI18next } from 'react-i18next'
import { site } from './site.ts'

/** Texts asked for within one turn are fetched by one request. */
let waiting = new Map<string, ReadCallback>()

async function fetchWaiting(language: string): Promise<void> {
  const asked = waiting
  waiting = new Map()
  const search = new URLSearchParams({ locale: language, namespace: [...asked.keys()].toSorted().join(' ') })
  try {
    const answer = await fetch(`/locales/locale.json?${search}`)
    if (!answer.ok) throw new Error(`Texts: ${answer.status}`)
    const texts = (await answer.json()) as Record<string, Record<string, Record<string, string>>>
    for (const [namespace, read] of asked) read(null, texts[language]?.[namespace] ?? {})
  } catch (error) {
    for (const read of asked.values()) read(error instanceof Error ? error : String(error), null)
  }
}

const backend: BackendModule = {
  type: 'backend',
  init: () => undefined,
  read: (language, namespace, read) => {
    if (waiting.size === 0) queueMicrotask(() => void fetchWaiting(language))
    waiting.set(namespace, read)
  },
}

/** The texts every page needs are there; further ones are loaded by the pages that use them. */
export async function startTexts(): Promise<void> {
  await i18next
    .use(backend)
    .use(initReactI18next)
    .init({
      lng: site.locale,
      fallbackLng: false,
      load: 'currentOnly',
      ns: ['strings', 'server', site.user ? 'home' : 'auth'],
      defaultNS: 'strings',
      // React escapes what it shows.
      interpolation: { escapeValue: false },
    })
}

/** Loads texts of a page while its code is on its way. */
export const loadTexts = (...namespaces: string[]): Promise<void> => i18next.loadNamespaces(namespaces)
