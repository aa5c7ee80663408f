import i18next from 'i18next'
import { Fragment } from 'react'
import { useTranslation } from '../app/use-translation.ts'
import { PrivateText } from '../components/private-text.tsx'

type Event = { event: string; properties: Record<string, unknown>; properties_withheld?: boolean }
type TextPart = { text: string; isValue: boolean }

/** Private-use characters that mark where values begin and end in a sentence. */
const [valueStart, valueEnd] = ['\uE000', '\uE001']
const valueMarkers = new RegExp(`[${valueStart}${valueEnd}]`, 'g')

/** The namespaces with the texts of events. */
export const eventTexts = ['activity', 'feed'] as const

const keyOf = (event: string) => event.replaceAll(':', '.')

/** Returns the text of an event with its placeholders; null for events that have none. */
function templateOf(event: string): string | null {
  const key = keyOf(event)
  const text = [key, `${key}_other`, `${key}_many`]
    .map((name) => i18next.getResource(i18next.language, 'activity', name) as unknown)
    .find((parts) => typeof parts === 'string')
  return typeof text === 'string' ? text : null
}

/** Returns the name of an event for a list: its text with an ellipsis in place of each value. */
export const eventLabel = (event: string): string =>
  templateOf(event)?.replaceAll(/\{\{[^}]*\}\}/g, '…') ?? event

function withMarkers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withMarkers)
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withMarkers(each)]))
  }
  const text = String(value ?? '').replaceAll(valueMarkers, '')
  return `${valueStart}${text === '' ? '–' : text}${valueEnd}`
}

/** Replaces a sign-in method by its name; an unknown one stays as it is. */
function withMethodName({ properties }: Event): Event['properties'] {
  const { method } = properties
  if (typeof method !== 'string') return properties
  const text: unknown = i18next.getResource(i18next.language, 'feed', `method.${method}`)
  return typeof text === 'string' ? { ...properties, method: text } : properties
}

function sentenceParts(entry: Event): TextPart[] {
  if (templateOf(entry.event) === null) return [{ text: entry.event, isValue: false }]
  if (entry.properties_withheld) return [{ text: eventLabel(entry.event), isValue: false }]
  const { count } = entry.properties
  const sentence = i18next.t(keyOf(entry.event), {
    ns: 'activity',
    count: typeof count === 'number' ? count : 1,
    // `replace` keeps values from being taken for options of the translation.
    replace: withMarkers(withMethodName(entry)) as Record<string, unknown>,
  })
  return sentence.split(valueStart).flatMap((segment, index) => {
    const [value = '', rest = ''] = index === 0 ? ['', segment] : segment.split(valueEnd)
    const parts = [
      { text: value, isValue: true },
      { text: rest, isValue: false },
    ]
    return parts.filter(({ text }) => text !== '')
  })
}

/** Returns what happened as a sentence in plain text. */
export const eventSentence = (entry: Event): string =>
  sentenceParts(entry)
    .map(({ text }) => text)
    .join('')

/** IP addresses, with or without a port. */
const address = /^(\d{1,3}(\.\d{1,3}){3}|\[?(?=(.*:){2})[\da-f:.]+\]?)(:\d+)?$/i
const isPrivate = (text: string) => text.includes('@') || address.test(text)

/** Shows what happened as a sentence with emphasized values; privacy mode hides addresses in it. */
export function EventText({ entry }: { entry: Event }) {
  useTranslation(...eventTexts)
  return (
    <span className="wrap-anywhere">
      {sentenceParts(entry).map(({ text, isValue }, index) =>
        isValue ? (
          <strong key={index} className="font-medium">
            {isPrivate(text) ? <PrivateText text={text} /> : text}
          </strong>
        ) : (
          <Fragment key={index}>{text}</Fragment>
        ),
      )}
    </span>
  )
}
