import i18next from 'i18next'
import { Fragment } from 'react'
import { useTranslation } from 'react-i18next'
import { PrivateText } from '../components/private-text.tsx'

type Event = { event: string; properties: Record<string, unknown> }
type Part = { text: string; isValue: boolean }

/** Stand around values in a sentence, so that they can be found in it again. */
const [opening, closing] = ['\uE000', '\uE001']
const marks = new RegExp(`[${opening}${closing}]`, 'g')

/** Namespaces that texts of events come from. */
export const eventTexts = ['activity', 'feed'] as const

const keyOf = (event: string) => event.replaceAll(':', '.')

/** The sentence of an event as it is written; null for events that daemons made up themselves. */
function templateOf(event: string): string | null {
  const key = keyOf(event)
  const text = [key, `${key}_other`, `${key}_many`]
    .map((name) => i18next.getResource(i18next.language, 'activity', name) as unknown)
    .find((found) => typeof found === 'string')
  return typeof text === 'string' ? text : null
}

/** What an event is called in a list of events: its sentence with its values left out. */
export const eventLabel = (event: string): string =>
  templateOf(event)?.replaceAll(/\{\{[^}]*\}\}/g, '…') ?? event

function marked(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(marked)
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, marked(each)]))
  }
  const text = String(value ?? '').replaceAll(marks, '')
  return `${opening}${text === '' ? '–' : text}${closing}`
}

/** Ways of signing in by their names; what is unknown as it is. */
function named({ properties }: Event): Event['properties'] {
  const { method } = properties
  if (typeof method !== 'string') return properties
  const text: unknown = i18next.getResource(i18next.language, 'feed', `method.${method}`)
  return typeof text === 'string' ? { ...properties, method: text } : properties
}

function partsOf(entry: Event): Part[] {
  if (templateOf(entry.event) === null) return [{ text: entry.event, isValue: false }]
  const { count } = entry.properties
  const sentence = i18next.t(keyOf(entry.event), {
    ns: 'activity',
    count: typeof count === 'number' ? count : 1,
    // Values cannot pass for options of the translation.
    replace: marked(named(entry)) as Record<string, unknown>,
  })
  return sentence.split(opening).flatMap((piece, at) => {
    const [value = '', rest = ''] = at === 0 ? ['', piece] : piece.split(closing)
    const found = [
      { text: value, isValue: true },
      { text: rest, isValue: false },
    ]
    return found.filter(({ text }) => text !== '')
  })
}

/** What happened, as a sentence in plain text. */
export const eventSentence = (entry: Event): string =>
  partsOf(entry)
    .map(({ text }) => text)
    .join('')

/** Addresses of people and machines, these with or without a port. */
const address = /^(\d{1,3}(\.\d{1,3}){3}|\[?(?=(.*:){2})[\da-f:.]+\]?)(:\d+)?$/i
const isPrivate = (text: string) => text.includes('@') || address.test(text)

/** What happened, as a sentence in which values stand out; whoever wants private data hidden has it hidden. */
export function EventText({ entry }: { entry: Event }) {
  useTranslation([...eventTexts])
  return (
    <span className="wrap-anywhere">
      {partsOf(entry).map(({ text, isValue }, at) =>
        isValue ? (
          <strong key={at} className="font-medium">
            {isPrivate(text) ? <PrivateText text={text} /> : text}
          </strong>
        ) : (
          <Fragment key={at}>{text}</Fragment>
        ),
      )}
    </span>
  )
}
