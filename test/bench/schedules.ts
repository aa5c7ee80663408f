import { startProcess } from '../support/processes.ts'
import { printHeading } from './table.ts'

/** Costs of a tick by the number of due schedules, in milliseconds; `processor` is the processor time of its process. */
type Claiming = { due: number; milliseconds: number; processor: number; statements: number }
type Dispatching = { due: number; milliseconds: number; processor: number; ticks: number }
export type TickCosts = { claims: Claiming[]; dispatch: Dispatching }

/** Runs the ticks in a process of their own, against a daemon in another one. */
export async function measureTick(url: string, daemonPort: number): Promise<TickCosts> {
  const ticks = await startProcess('test/bench/tick.ts', {
    args: [url, String(daemonPort)],
    ready: /^done$/m,
    timeoutMs: 600_000,
  })
  await ticks.stop()
  const lines = ticks
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{"'))
  const found = lines.map((line) => JSON.parse(line) as { claim?: Claiming; dispatch?: Dispatching })
  const dispatch = found.find((each) => each.dispatch)?.dispatch
  if (!dispatch) throw new Error('The ticks said nothing.')
  return { claims: found.flatMap(({ claim }) => claim ?? []), dispatch }
}

/** Prints the costs. */
export function printTick({ claims, dispatch }: TickCosts): void {
  printHeading('tick with 100,000 idle schedules')
  for (const { due, milliseconds, processor, statements } of claims) {
    const each = (time: number) => `${(time / due).toFixed(3)} ms`
    console.log(
      `${due} due: claimed in ${milliseconds.toFixed(0)} ms, ${each(milliseconds)} each, ${each(processor)} of processor each, ${statements} statements`,
    )
  }
  const seconds = (dispatch.milliseconds / 1000).toFixed(1)
  const processor = (dispatch.processor / dispatch.due).toFixed(2)
  console.log(
    `${dispatch.due} due: every daemon told and every run over after ${seconds} s and ${dispatch.ticks} ticks, ${processor} ms of processor each (target: 2)`,
  )
}
