/** Codes of the languages that are installed; the first is spoken where nothing else fits. */
export const languages = ['en', 'de', 'fr', 'es', 'pt-BR', 'pl', 'tr', 'ru', 'zh-CN'] as const
export type Language = (typeof languages)[number]

const baseOf = (tag: string) => tag.split('-')[0] ?? ''

const byName: ReadonlyMap<string, Language> = new Map(
  languages.flatMap((language) => {
    const code = language.toLowerCase()
    return [[code, language] as const, [baseOf(code), language] as const]
  }),
)

/** The language that a name stands for: its code in any case, also as `pt_BR` or `pt`; null for any other name. */
export const languageNamed = (name: string): Language | null =>
  byName.get(name.replace('_', '-').toLowerCase()) ?? null

/** What an account may choose: `auto` leaves it to the browser. */
export const languageChoices = ['auto', ...languages] as const

/**
 * The language to speak: the chosen one, or with `auto` the best of an `Accept-Language` header, where a
 * region that is not installed stands for its language.
 */
export function localeOf(choice: string, acceptLanguage: string | undefined): Language {
  const chosen = languages.find((language) => language === choice)
  if (chosen) return chosen
  const found = wantedLanguages(acceptLanguage ?? '').map(installed)
  return found.find((language) => language !== undefined) ?? languages[0]
}

function installed(tag: string): Language | undefined {
  const base = baseOf(tag)
  return (
    languages.find((language) => language.toLowerCase() === tag) ??
    languages.find((language) => baseOf(language.toLowerCase()) === base)
  )
}

/** Tags in lower case, the most wanted first; those with a weight of nought are not wanted. */
function wantedLanguages(header: string): string[] {
  return header
    .toLowerCase()
    .split(',')
    .map((entry) => {
      const [tag = '', ...parameters] = entry.split(';').map((part) => part.trim())
      const weight = parameters.find((parameter) => parameter.startsWith('q='))
      return { tag, weight: weight === undefined ? 1 : Number(weight.slice(2)) }
    })
    .filter(({ weight }) => weight > 0)
    .toSorted((one, other) => other.weight - one.weight)
    .map(({ tag }) => tag)
}
