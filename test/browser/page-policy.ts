import type { Answer } from '../support/answers.ts'

/** Parses the content security policy of a page: sources by directive. */
export const directivesOf = ({ headers }: Pick<Answer, 'headers'>) =>
  new Map(
    (headers.get('content-security-policy') ?? '').split('; ').map((directive) => {
      const [name = '', ...sources] = directive.split(' ')
      return [name, sources] as const
    }),
  )

/** Returns the nonce of the scripts and styles of a page. */
export const nonceIn = (answer: Answer) => /'nonce-([^']+)'/.exec([...directivesOf(answer)].join())?.[1] ?? ''
