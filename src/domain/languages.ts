/** Codes of the installed languages; the first is the default. */
export const languages = ['en', 'de', 'fr', 'es', 'pt-BR', 'pl', 'tr', 'ru', 'zh-CN'] as const
export type Language = (typeof languages)[number]

const baseLanguage = (tag: string) => tag.split('-')[0] ?? ''

const languagesByCode: ReadonlyMap<string, Language> = new Map(
  languages.flatMap((language) => {
    const code = language.toLowerCase()
    return [[code, language] as const, [baseLanguage(code), language] as const]
  }),
)

/** Finds a language by its code in any case, also as `pt_BR` or `pt`. Returns null for unknown ones. */
export const findLanguage = (name: string): Language | null =>
  languagesByCode.get(name.replace('_', '-').toLowerCase()) ?? null

/** Values of the account setting; `auto` uses the language of the browser. */
export const languageChoices = ['auto', ...languages] as const

/**
 * Resolves the language of a response: the chosen one, or with `auto` the best match of an
 * `Accept-Language` header. A region that is not installed falls back to its language.
 */
export function resolveLanguage(choice: string, acceptLanguage: string | undefined): Language {
  const chosen = languages.find((language) => language === choice)
  if (chosen) return chosen
  const found = parseAcceptLanguage(acceptLanguage ?? '').map(matchInstalled)
  return found.find((language) => language !== undefined) ?? languages[0]
}

function matchInstalled(tag: string): Language | undefined {
  const base = baseLanguage(tag)
  return (
    languages.find((language) => language.toLowerCase() === tag) ??
    languages.find((language) => baseLanguage(language.toLowerCase()) === base)
  )
}

/** Returns tags in lower case, highest weight first, without those of weight 0. */
function parseAcceptLanguage(header: string): string[] {
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
