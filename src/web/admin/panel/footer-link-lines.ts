import type { FooterLink } from '../../app/site.ts'

/** Writes links as `Label | https://…` lines. */
export const linkLines = (value: unknown): string =>
  (value as FooterLink[]).map(({ label, url }) => `${label} | ${url}`).join('\n')

/** Reads such lines; the API says what is wrong with them. */
export const linksOf = (text: string): FooterLink[] =>
  text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const at = line.lastIndexOf('|')
      return { label: line.slice(0, Math.max(0, at)).trim(), url: line.slice(at + 1).trim() }
    })
