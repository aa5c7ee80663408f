import type { CST, Document, Lexer, Parser } from 'yaml'
import type { ReasonValues } from '../../errors.ts'
import { findDocumentIssues, maxDepth, maxMembers } from './document.ts'
import { EggFormatError, eggIssue, type EggReason } from './format-error.ts'

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
  if (text.length > maxYamlLength) throw refuse('egg_too_large')
  // Imported when needed: few functions parse YAML, and each would load it at its start.
  const yaml = await import('yaml')
  const tokens = readTokens(new yaml.Lexer(), new yaml.Parser(), text)
  requireBoundedTokens(tokens)
  const composer = new yaml.Composer({ schema: 'core', resolveKnownTags: false, logLevel: 'error' })
  const documents = [...composer.compose(tokens, true)]
  const [document] = documents
  if (!document || documents.length > 1) throw refuse('egg_not_one_document')
  const [problem] = [...document.errors, ...document.warnings]
  if (problem) {
    const [says = ''] = problem.message.split('\n', 1)
    throw refuse('egg_not_yaml_at', { problem: says, ...placeOf(text, problem.pos[0]) })
  }
  return toBoundedValue(document)
}

/** Splits a text into documents of tokens. Counts first, as each mark of a text takes a kilobyte of memory. */
function readTokens(lexer: Lexer, parser: Parser, text: string): CST.Token[] {
  const tokens: CST.Token[] = []
  let lexemes = 0
  for (const lexeme of lexer.lex(text)) {
    lexemes += 1
    if (lexemes > maxLexemes) throw refuse('egg_too_many_members', { max: maxMembers })
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
    if (depth >= maxDepth) throw refuse('egg_too_deep', { max: maxDepth })
    for (const item of token.items) {
      members += 1
      if (members > maxMembers) throw refuse('egg_too_many_members', { max: maxMembers })
      for (const inner of [item.key, item.value]) pending.push({ token: inner, depth: depth + 1 })
    }
  }
}

function toBoundedValue(document: Document): unknown {
  const value = replaceAliases(document)
  const issues = findDocumentIssues(value)
  if (issues.length > 0) throw new EggFormatError(issues)
  // The check above bounds what is visited here.
  if (textLengthOf(value) > maxYamlLength) throw refuse('egg_too_large')
  return value
}

function replaceAliases(document: Document): unknown {
  try {
    return document.toJS({ maxAliasCount: maxAliases })
  } catch (error) {
    // Too many aliases, or one of an unknown anchor.
    if (error instanceof ReferenceError) throw refuse('egg_not_yaml', { problem: error.message })
    throw error
  }
}

function textLengthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return String(value).length
  return Object.entries(value).reduce((sum, [key, inner]) => sum + key.length + textLengthOf(inner), 0)
}

function placeOf(text: string, offset: number): { line: number; column: number } {
  const lines = text.slice(0, offset).split('\n')
  return { line: lines.length, column: (lines.at(-1) ?? '').length + 1 }
}

const refuse = (reason: EggReason, values?: ReasonValues) =>
  new EggFormatError([eggIssue('', reason, values)])
