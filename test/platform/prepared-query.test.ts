import type { Client } from 'pg'
import { expect, it } from 'vitest'
import { type PipelinedStatement, runPipeline } from '../../src/platform/prepared-query.ts'

/** What the driver calls as the answer of a pipeline arrives. */
type SentQuery = {
  handleDataRow: (row: { fields: (string | null)[] }) => void
  handleCommandComplete: () => void
  handleError: (error: Error) => void
}

/** Sends two statements, and returns them with what is told of them and what the driver was given. */
function sendTwo() {
  const rows: unknown[] = []
  const errors: (Error | null)[] = []
  let sent: SentQuery | undefined
  const unanswered = ['first', 'second'].map((name): PipelinedStatement => ({
    statement: { name, text: '', types: {} as never, parsers: [String], isPipelined: true, isLarge: false },
    values: [],
    answer: { resolve: (result) => rows.push(...result.rows) },
  }))
  const send = (query: SentQuery) => void (sent = query)
  runPipeline(send as unknown as Client['query'], unanswered, (error) => errors.push(error))
  return { unanswered, rows, errors, sent: sent as SentQuery }
}

it('a pipeline leads to no statement that is answered: V8 would keep its rows until it collects all garbage', () => {
  const { unanswered, rows, sent } = sendTwo()
  sent.handleDataRow({ fields: ['a'] })
  sent.handleCommandComplete()
  expect(rows).toEqual([['a']])
  expect(unanswered.map(({ statement }) => statement.name)).toEqual(['second'])
  sent.handleDataRow({ fields: ['b'] })
  sent.handleCommandComplete()
  expect(rows).toEqual([['a'], ['b']])
  expect(unanswered).toEqual([])
})

it('a pipeline that fails leaves the statement that failed first, with those behind it', () => {
  const { unanswered, errors, sent } = sendTwo()
  const error = new Error('division by zero')
  sent.handleError(error)
  expect(errors).toEqual([error])
  expect(unanswered.map(({ statement }) => statement.name)).toEqual(['first', 'second'])
})
