import type { MoveIn } from '../resources.ts'

export type Stage = NonNullable<MoveIn['stage']>

/** Stages in which the panel works by itself. */
export const busyStages: readonly Stage[] = ['uploading', 'checking', 'moving', 'comparing']

/** Stages in which a dump waits for what the administrator decides. */
export const stagesWithDump: readonly Stage[] = ['uploaded', 'checked', 'failed']

/** The steps of the page, and at which of them a move is: after the last one it is over. */
export const steps = ['dump', 'check', 'move'] as const

/** Returns how many steps are done. */
export function countDone({ stage, can_start: canStart }: MoveIn): number {
  if (stage === 'done') return 3
  if (stage === 'moving' || stage === 'comparing' || canStart) return 2
  return stage === 'checking' || (stage !== null && stagesWithDump.includes(stage)) ? 1 : 0
}
