import i18next from 'i18next'
import type { ErrorEntry } from './error.ts'

type Values = Record<string, string | number>

/** Milliseconds after which a refusal is shown in English. */
const maxWaitMs = 3000

/**
 * Puts refusals into the language of the page, by their reason, else by the rule that a field broke. Those without a
 * text keep their English sentence.
 */
export async function translateEntries(entries: readonly ErrorEntry[]): Promise<readonly ErrorEntry[]> {
  if ((i18next.language ?? 'en') === 'en') return entries
  const isLate = new Promise((resolve) => setTimeout(resolve, maxWaitMs))
  await Promise.race([i18next.loadNamespaces('refusals'), isLate]).catch(() => null)
  return entries.map(translateEntry)
}

/** Puts one refusal into the language of the page, when the texts of refusals are loaded. */
export function translateEntry(entry: ErrorEntry): ErrorEntry {
  const { reason, rule, values, before, source_field: field } = entry.meta ?? {}
  const detail = textOf('reason', reason, values)
  // A fault of a document stands in a list, and its text does not say where it is.
  if (detail !== null && rule !== 'egg_format') {
    const context = textOf('reason', before?.reason, before?.values)
    return { ...entry, detail: context === null ? detail : `${context} ${detail}` }
  }
  const text = detail ?? textOf('rule', rule, values)
  if (text === null) return entry
  return { ...entry, detail: text, inList: field ? i18next.t('refusals:field', { field, text }) : text }
}

/** Finds the text of a reason or rule; null without one, and when a value that it names was not sent. */
function textOf(kind: 'reason' | 'rule', name: string | undefined, values: Values = {}): string | null {
  if (!name) return null
  const template: unknown = i18next.getResource(i18next.language, 'refusals', `${kind}.${name}`)
  if (typeof template !== 'string') return null
  const names = [...template.matchAll(/\{\{(\w+)\}\}/g)].map(([, value = '']) => value)
  if (names.some((value) => !Object.hasOwn(values, value))) return null
  return template.replaceAll(/\{\{(\w+)\}\}/g, (_, value: string) => String(values[value]))
}
