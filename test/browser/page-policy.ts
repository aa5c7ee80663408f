import type { Answer } from '../support/answers.ts'

/** What a page's policy lets it do: sources by directive. */
export const directivesOf = ({ headers }: Pick<Answer, 'headers'>) =>
  new Map(
    (headers.get('content-security-policy') ?? '').split('; ').map((directive) => {
      const [name = '', ...sources] = directive.split(' ')
      return [name, sources] as const
    }),
  )

/** The nonce that the scripts and styles of a page carry. */
export const nonceIn = (answer: Answer) => /'nonce-([^']+)'/.exec([...directivesOf(answer)].join())?.[1] ?? ''
