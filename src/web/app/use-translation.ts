import i18next, { type TFunction } from 'i18next'
import { useEffect, useState } from 'react'
import { loadTexts } from './texts.ts'

/** What reads the texts of namespaces that are there; the language of a page never changes. */
const translators = new Map<string, TFunction>()
const loading = new Map<string, Promise<void>>()

const areLoaded = (namespaces: readonly string[]): boolean =>
  namespaces.every((namespace) => i18next.hasLoadedNamespace(namespace))

/**
 * Returns what reads the texts of the first namespace, and of the others by their names; suspends until they are there.
 * That of react-i18next copies its instance for each component: a tenth of the time in which a list is rendered.
 */
export function useTranslation(...names: string[]): { t: TFunction } {
  const namespaces = names.length === 0 ? ['strings'] : names
  const name = namespaces.join(' ')
  const known = translators.get(name)
  if (known) return { t: known }
  if (!areLoaded(namespaces)) throw load(name, namespaces)
  const t = i18next.getFixedT(i18next.language, namespaces[0] as string)
  translators.set(name, t)
  return { t }
}

/** Loads texts once, however many components wait for them. */
function load(name: string, namespaces: readonly string[]): Promise<void> {
  const started = loading.get(name) ?? loadTexts(...namespaces).finally(() => loading.delete(name))
  loading.set(name, started)
  return started
}

/** Loads further texts for a page that is shown before they are there; returns whether they are. */
export function useLoadedTexts(...namespaces: string[]): boolean {
  const [, setLoads] = useState(0)
  const name = namespaces.join(' ')
  const isReady = areLoaded(namespaces)
  useEffect(() => {
    if (!isReady) void loadTexts(...name.split(' ')).then(() => setLoads((loads) => loads + 1))
  }, [isReady, name])
  return isReady
}
