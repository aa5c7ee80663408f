import { parseAst } from 'vite'
import { describe, expect, it } from 'vitest'
import { eggProblems } from '../../src/domain/eggs/format-error.ts'
import texts from '../../src/locales/en/refusals.json' with { type: 'json' }
import { readSource, sourceFiles } from './imports.ts'

type AstNode = { type: string; [member: string]: unknown }

const isNode = (value: unknown): value is AstNode =>
  typeof value === 'object' && value !== null && typeof (value as AstNode).type === 'string'

function* nodesIn(node: AstNode): Generator<AstNode> {
  yield node
  for (const member of Object.values(node)) {
    for (const child of [member].flat()) if (isNode(child)) yield* nodesIn(child)
  }
}

const files = sourceFiles('src').filter(
  (file) => file.endsWith('.ts') && !/^src\/(web|dev|cli)\//.test(file) && file !== 'src/errors.ts',
)
const nodesOf = (file: string) => [
  ...nodesIn(parseAst(readSource(file), { lang: 'ts' }) as unknown as AstNode),
]

/** Functions of `errors.ts`, and a class, that take a reason and a sentence, which may stand behind a status. */
const refusals =
  /^(badRequest|displayError|unauthenticated|forbidden|notFound|conflict|serverStateConflict|unavailable|overloaded|databaseHostFailure|daemonFailure|FetchRefusal)$/

/** Reasons that many sentences share. */
const shared = new Set(['request_malformed', 'callback_refused'])

const reasons: Record<string, string> = texts.reason

/** Returns the pieces of a sentence around what it names; null for one that is not written there. */
function piecesOf(node: AstNode | undefined): string[] | null {
  if (node?.type === 'Literal') return [String(node.value)]
  if (node?.type !== 'TemplateLiteral') return null
  return (node.quasis as { value: { cooked: string } }[]).map(({ value }) => value.cooked)
}

/** Lists the refusals with a sentence in a file, by reason. */
const sentencesIn = (file: string) =>
  nodesOf(file).flatMap((node) => {
    const { name = '' } = (node.callee ?? {}) as { name?: string }
    if (!/^(Call|New)Expression$/.test(node.type) || !refusals.test(name)) return []
    const given = node.arguments as AstNode[]
    const [reason, detail] = name.endsWith('Failure') ? given.slice(1) : given
    const pieces = piecesOf(detail)
    // A reason that is chosen, and a sentence that is built elsewhere, are checked by their type alone.
    return typeof reason?.value === 'string' && pieces ? [{ reason: reason.value, pieces }] : []
  })

describe('a refusal', () => {
  const all = files.flatMap(sentencesIn)

  it('has a reason whose English text is its sentence', () => {
    expect(all.length).toBeGreaterThan(150)
    const wrong = all.filter(
      ({ reason, pieces }) =>
        !shared.has(reason) && (reasons[reason] ?? '').split(/\{\{\w+\}\}/).join('…') !== pieces.join('…'),
    )
    expect(wrong).toEqual([])
  })

  it('that is built by hand in the domain has one, too', () => {
    const built = files
      .filter((file) => file.startsWith('src/domain/'))
      .flatMap(nodesOf)
      .filter(({ type, callee }) => type === 'NewExpression' && (callee as AstNode).name === 'ApiError')
    expect(built.length).toBeGreaterThan(3)
    const names = built.map((node) =>
      [...nodesIn(node)].flatMap(({ name, key }) => name ?? (key as AstNode)?.name),
    )
    expect(names.filter((each) => !each.includes('meta'))).toEqual([])
  })
})

describe('a fault of an egg', () => {
  it.each(Object.entries(eggProblems))('has an English text that says the same: %s', (reason, problem) => {
    expect(reasons[reason]).toBe(problem.startsWith('{{') ? `${problem}.` : `This ${problem}.`)
  })
})

describe('a reason', () => {
  const sources = ['src/errors.ts', ...files].map(readSource).join('\n')

  it.each(Object.keys(reasons))('%s is used', (reason) => {
    expect(sources).toContain(`'${reason}'`)
  })
})
