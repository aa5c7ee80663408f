import type { ProcessChange } from '../../api/usage.ts'
import type { Mark } from './chart-drawing.ts'

type Look = Pick<Mark, 'shape' | 'colour'>

const looks: Record<ProcessChange['change'], Look> = {
  start: { shape: 'up', colour: '--good' },
  restart: { shape: 'circle', colour: '--info' },
  stop: { shape: 'square', colour: '--muted' },
  crash: { shape: 'diamond', colour: '--bad' },
}

/** Returns how a change of the process is drawn. */
export const markOf = (change: ProcessChange['change']): Look => looks[change]

/** Returns the marks of changes. */
export const marksOf = (changes: readonly ProcessChange[]): Mark[] =>
  changes.map(({ at, change }) => ({ at: Date.parse(at) / 1000, ...looks[change] }))
