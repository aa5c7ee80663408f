import { type Document, parseAllDocuments } from 'yaml'
import type { Checker } from './checks.ts'
import { indentOf } from './indent-of.ts'

/** Numbers beyond what a double holds stay exact. */
const parseAs = { intAsBigInt: true, prettyErrors: false } as const

function parse(text: string): Document.Parsed[] {
  const documents = parseAllDocuments(text, parseAs)
  return Array.isArray(documents) ? documents : []
}

const valuesOf = (documents: Document.Parsed[]): string =>
  JSON.stringify(
    documents.map((document): unknown => document.toJS()),
    (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value),
  )

const commentsIn = (text: string): number => text.match(/(^|\s)#/g)?.length ?? 0

/** Whether lists stand as far left as the key above them. */
const hasFlatLists = (text: string): boolean => /^( *)[^\s#-][^\n]*:[ \t]*\n\1- /m.test(text)

/** Formats YAML with its comments. Returns null when that would change a value or lose a comment. */
function formatYaml(text: string): string | null {
  const documents = parse(text)
  const options = { lineWidth: 0, indent: indentOf(text).length, indentSeq: !hasFlatLists(text) }
  const written = documents
    .map((document, at) => {
      if (at > 0 && document.directives) document.directives.docStart = true
      return document.toString(options)
    })
    .join('')
  const isSame = valuesOf(parse(written)) === valuesOf(documents) && commentsIn(written) === commentsIn(text)
  return isSame ? written : null
}

/** Checks and formats YAML. */
export const yamlChecker: Checker = {
  findProblem: (text) => {
    const [error] = parse(text).flatMap(({ errors }) => errors)
    return error ? { position: error.pos[0], reason: error.message } : null
  },
  format: (text) => {
    try {
      return formatYaml(text)
    } catch {
      // Aliases that unfold without end.
      return null
    }
  },
}
