import type { Panel } from '../../panel.ts'
import { checkActivity, countActivity, writeActivity } from './activity.ts'
import { verifyActivity } from './activity-verify.ts'
import { checkMove } from './check.ts'
import type { Move } from './move.ts'
import { type MoveOptions, phasesOf } from './phases.ts'
import { countProgress } from './progress.ts'
import { type Written, writeMove } from './run.ts'
import { type Difference, maxDifferences, verifyMove } from './verify.ts'

/** What is done with the rows of the old panel. */
export type MoveMode = 'check' | 'write' | 'verify'

type PassOptions = MoveOptions & {
  mode: MoveMode
  since: boolean
  /** Throws where the pass that read everything found what forbids the move. */
  requireMovable: (checked: Move) => void
}
type PassResult = { move: Move; differences: Difference[] } & Partial<Written>

/** Checks, compares, or checks and writes. */
export async function runPasses(panel: Panel, options: PassOptions): Promise<PassResult> {
  const { mode, since, requireMovable } = options
  if (mode === 'verify') {
    const { move, differences } = await verifyMove(panel, options)
    const further = await verifyActivity(panel, move, maxDifferences - differences.length)
    return { move, differences: [...differences, ...further] }
  }
  const checked = await checkMove(panel, options)
  if (mode === 'check') {
    await checkActivity(checked)
    return { move: checked, differences: [] }
  }
  requireMovable(checked)
  const sources = phasesOf(options.kind).flat()
  const rows = sources.reduce((sum, { source }) => sum + (options.spool.counts.get(source) ?? 0), 0)
  const onProgress = countProgress(rows + countActivity(options))
  const result = await writeMove(panel, { ...options, since, checked, onProgress })
  const entries = await writeActivity(panel, result.move, (read) => onProgress('activity', read))
  if (options.activity) result.written.set('activity', entries)
  return { ...result, differences: [] }
}
