import type { Panel } from '../../panel.ts'
import { checkMove } from './check.ts'
import type { Move } from './move.ts'
import { type MoveOptions, phasesOf } from './phases.ts'
import { countProgress } from './progress.ts'
import { type Written, writeMove } from './run.ts'
import { type Difference, verifyMove } from './verify.ts'

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
  if (mode === 'verify') return verifyMove(panel, options)
  const checked = await checkMove(panel, options)
  if (mode === 'check') return { move: checked, differences: [] }
  requireMovable(checked)
  const sources = phasesOf(options.kind).flat()
  const total = sources.reduce((sum, { source }) => sum + (options.spool.counts.get(source) ?? 0), 0)
  const onProgress = countProgress(total)
  return { ...(await writeMove(panel, { ...options, since, checked, onProgress })), differences: [] }
}
