import { languages } from '../../domain/languages.ts'

/** Returns the installed language of a code such as `pt_BR` or `de`; null where it is not installed. */
export function findLanguage(code: string): string | null {
  const wanted = code.replace('_', '-').toLowerCase()
  return (
    languages.find((language) => language.toLowerCase() === wanted) ??
    languages.find((language) => language.split('-')[0] === wanted.split('-')[0]) ??
    null
  )
}
