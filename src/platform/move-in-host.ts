import type { MoveIn } from '../adapters/move-in.ts'
import type { Panel } from '../panel.ts'

/** What a process needs to move another panel in. */
export type MoveInHostOptions = {
  /** The panel as the system. */
  panel: Panel
  dataDirectory: string
  /** Lets work go on that no request waits for. */
  addBackground: (work: Promise<unknown>) => void
}

/**
 * What moves another panel in. `tidy` ends what no process works on any more and deletes what is left over, at the start
 * of the panel all of it; `close` ends the work of this process.
 */
export type MoveInHost = {
  moveIn: MoveIn<Panel>
  tidy: (options: { isStart: boolean }) => Promise<void>
  close: () => Promise<void>
}

/** Opens what moves another panel in; the functions that run on Node bring it. */
export type OpenMoveInHost = (options: MoveInHostOptions) => MoveInHost
