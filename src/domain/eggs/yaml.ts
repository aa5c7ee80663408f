import type { CST, Document, Lexer, Parser } from 'yaml'
import { findDocumentIssues, maxDepth, maxMembers } from './document.ts'
import { EggFormatError } from './format-error.ts'

/** Characters of a document after its aliases are replaced. */
const maxYamlLength = 1024 * 1024
const maxAliases = 50
/** Words, marks and spaces, about ten for each member. */
const maxLexemes = 10 * maxMembers

/**
 * Parses an egg document in YAML 1.2, one document without custom tags. Throws an `EggFormatError` when it is not
 * YAML, repeats a key, has more than 32 levels, 5,000 members, 50 aliases or 1 MiB, also after the aliases are
 * replaced. Spec: docs/eggs.md#import-and-export.
 */
export async function parseEggYaml(text: string): Promise<unknown> {
  if (text.length > maxYamlLength) throw refuse('is larger than 1 MiB')
  // Imported when needed: few functions parse YAML, and each would load it at its start.
  const yaml = await import('yaml')
  const tokens = readTokens(new yaml.Lexer(), new yaml.Parser(), text)
  requireBoundedTokens(tokens)
  const composer = new yaml.Composer({ schema: 'core', resolveKnownTags: false, logLevel: 'error' })
  const documents = [...composer.compose(tokens, true)]
  const [document] = documents
  if (!document || documents.length > 1) throw refuse('must be one YAML document')
  const [problem] = [...document.errors, ...document.warnings]
  if (problem) throw refuse(`is not YAML: ${problem.message.split('\n', 1)[0]}`, text, problem.pos[0])
  return toBoundedValue(document)
}

/** Splits a text into documents of tokens. Counts first, as each mark of a text takes a kilobyte of memory. */
function readTokens(lexer: Lexer, parser: Parser, text: string): CST.Token[] {
  const tokens: CST.Token[] = []
  let lexemes = 0
  for (const lexeme of lexer.lex(text)) {
    lexemes += 1
    if (lexemes > maxLexemes) throw refuse(`exceeds the limit of ${maxMembers} members`)
    tokens.push(...parser.next(lexeme))
  }
  return [...tokens, ...parser.end()]
}

/** Checks depth and members before the parser compares keys with one another and descends by recursion. */
function requireBoundedTokens(tokens: CST.Token[]): void {
  let members = 0
  const pending = tokens.map((token) => ({ token: token as CST.Token | null | undefined, depth: 0 }))
  for (let next = pending.pop(); next; next = pending.pop()) {
    const { token, depth } = next
    if (token?.type === 'document') pending.push({ token: token.value, depth })
    if (!token || !('items' in token)) continue
    if (depth >= maxDepth) throw refuse(`is nested deeper than ${maxDepth} levels`)
    for (const item of token.items) {
      members += 1
      if (members > maxMembers) throw refuse(`exceeds the limit of ${maxMembers} members`)
      for (const inner of [item.key, item.value]) pending.push({ token: inner, depth: depth + 1 })
    }
  }
}

function toBoundedValue(document: Document): unknown {
  const value = replaceAliases(document)
  const issues = findDocumentIssues(value)
  if (issues.length > 0) throw new EggFormatError(issues)
  // The check above bounds what is visited here.
  if (textLengthOf(value) > maxYamlLength) throw refuse('is larger than 1 MiB')
  return value
}

function replaceAliases(document: Document): unknown {
  try {
    return document.toJS({ maxAliasCount: maxAliases })
  } catch (error) {
    // Too many aliases, or one of an unknown anchor.
    if (error instanceof ReferenceError) throw refuse(`is not YAML: ${error.message}`)
    throw error
  }
}

function textLengthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return String(value).length
  return Object.entries(value).reduce((sum, [key, inner]) => sum + key.length + textLengthOf(inner), 0)
}

function refuse(problem: string, text = '', offset = 0): EggFormatError {
  const lines = text.slice(0, offset).split('\n')
  const position = text === '' ? '' : ` at line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1}`
  return new EggFormatError([{ field: '', problem: problem + position }])
}
