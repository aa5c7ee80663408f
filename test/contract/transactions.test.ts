import { parseAst } from 'vite'
import { describe, expect, it } from 'vitest'
import { inTransaction } from '../../src/panel.ts'
import { useWorld } from '../support/world.ts'
import { readSource, sourceFiles } from './imports.ts'

const world = useWorld()

type AstNode = { type: string; [member: string]: unknown }

const isNode = (value: unknown): value is AstNode =>
  typeof value === 'object' && value !== null && typeof (value as AstNode).type === 'string'

/** Lists a node and all nodes below it. */
function* nodesIn(node: AstNode): Generator<AstNode> {
  yield node
  for (const member of Object.values(node)) {
    for (const child of [member].flat()) if (isNode(child)) yield* nodesIn(child)
  }
}

const nameOf = (node: unknown) => (isNode(node) && node.type === 'Identifier' ? String(node.name) : null)

/** Lists the functions that run inside a transaction: the last argument of the call that opens it. */
function transactionBodies(source: string): AstNode[] {
  const program = parseAst(source, { lang: 'ts' }) as unknown as AstNode
  return [...nodesIn(program)]
    .filter(
      ({ type, callee }) =>
        type === 'CallExpression' && /^(inTransaction|with\w+Lock)$/.test(nameOf(callee) ?? ''),
    )
    .map((call) => (call.arguments as AstNode[]).at(-1))
    .filter((work) => work?.type === 'ArrowFunctionExpression' && takesTx(work)) as AstNode[]
}

/** `withFileLock` and its like hold no transaction; what runs in one takes `tx`, or its database alone. */
const takesTx = (work: AstNode) =>
  (work.params as AstNode[]).some((param) => nameOf(param) === 'tx' || param.type === 'ObjectPattern')

const usesPanel = (body: AstNode) => [...nodesIn(body)].some((node) => nameOf(node) === 'panel')

describe('inside a transaction', () => {
  it('external services are out of reach, by type and in fact', async () => {
    const members = await inTransaction(world.panel, async (tx) => {
      // @ts-expect-error -- the type of a transaction has no cache
      expect(tx.cache).toBeUndefined()
      return Object.keys(tx)
    })
    expect(members.toSorted()).toEqual(
      'actor config db expectedVersions ip keys metrics now requestId transaction wake'.split(' '),
    )
  })

  const files = sourceFiles('src', 'drizzle').filter((file) => readSource(file).includes('inTransaction('))

  it.each(files)('%s uses the transaction, not the panel around it', (file) => {
    expect(transactionBodies(readSource(file)).filter(usesPanel)).toEqual([])
  })

  it('the panel around it would be noticed', () => {
    const [body] = transactionBodies('inTransaction(panel, async (tx) => { await find(panel, 1) })')
    expect(body && usesPanel(body)).toBe(true)
  })
})
