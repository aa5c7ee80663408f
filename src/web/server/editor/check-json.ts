import { jsonLanguage } from '@codemirror/lang-json'
import type { Checker } from './checks.ts'
import { indentOf } from './indent-of.ts'

/** Returns where the parser first failed. Browsers say it in different ways, and not always. */
function positionOfError(text: string, message: string): number | null {
  let position: number | null = null
  jsonLanguage.parser.parse(text).iterate({
    enter: (node) => {
      if (node.type.isError) position ??= node.from
      return position === null
    },
  })
  if (position !== null) return position
  const said = /position (\d+)/.exec(message)?.[1]
  return said === undefined ? null : Number(said)
}

const tokens = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g

/** Indents JSON anew. Only white space changes: numbers and strings stay as they are written. */
function indentJson(text: string): string {
  const indent = indentOf(text)
  let depth = 0
  let written = ''
  let before = ''
  const line = () => `\n${indent.repeat(depth)}`
  for (const [token] of text.matchAll(tokens)) {
    const isEmpty = (before === '{' && token === '}') || (before === '[' && token === ']')
    if (token === '}' || token === ']') {
      depth -= 1
      written += isEmpty ? token : line() + token
    } else {
      written += before === '{' || before === '[' || before === ',' ? line() + token : token
      if (token === '{' || token === '[') depth += 1
      if (token === ':') written += ' '
    }
    before = token
  }
  return text.endsWith('\n') ? `${written}\n` : written
}

/** Checks and formats JSON. */
export const jsonChecker: Checker = {
  findProblem: (text) => {
    try {
      JSON.parse(text)
      return null
    } catch (error) {
      return { position: positionOfError(text, String(error)), reason: null }
    }
  },
  format: indentJson,
}
