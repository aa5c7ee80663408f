import { startProcess } from '../support/processes.ts'

/** Costs of a tick by the number of due schedules, in milliseconds; `processor` is the processor time of its process. */
type Claiming = { due: number; milliseconds: number; processor: number; statements: number }
type Dispatching = { due: number; milliseconds: number; processor: number; ticks: number }
export type TickCosts = { claims: Claiming[]; dispatch: Dispatching }

/** Runs the ticks in a process of their own, against a daemon in another one. */
export async function measureTick(url: string): Promise<TickCosts> {
  const daemon = await startProcess('test/bench/daemon.ts', { ready: /listening \d+/ })
  try {
    const port = /listening (\d+)/.exec(daemon.output())?.[1] ?? ''
    const ticks = await startProcess('test/bench/tick.ts', {
      args: [url, port],
      ready: /^done$/m,
      timeoutMs: 600_000,
    })
    const lines = ticks
      .output()
      .split('\n')
      .filter((line) => line.startsWith('{"'))
    const found = lines.map((line) => JSON.parse(line) as { claim?: Claiming; dispatch?: Dispatching })
    const dispatch = found.find((each) => each.dispatch)?.dispatch
    if (!dispatch) throw new Error('The ticks said nothing.')
    return { claims: found.flatMap(({ claim }) => claim ?? []), dispatch }
  } finally {
    await daemon.stop()
  }
}

/** Prints the costs; `reference` is the duration of one bare request in milliseconds. */
export function printTick({ claims, dispatch }: TickCosts, reference: number): void {
  console.log('\ntick with 100,000 idle schedules')
  for (const { due, milliseconds, processor, statements } of claims) {
    const each = milliseconds / due
    const words = [
      `${due} due: claimed in ${milliseconds.toFixed(0)} ms`,
      `${each.toFixed(3)} ms each (${(each / reference).toFixed(2)} bare requests)`,
      `${(processor / due).toFixed(3)} ms of processor each`,
      `${statements} statements`,
    ]
    console.log(`  ${words.join(', ')}`)
  }
  const [first, last] = [claims[0], claims.at(-1)]
  if (first && last) {
    const growth = last.milliseconds / last.due / (first.milliseconds / first.due)
    console.log(`  each costs ${growth.toFixed(2)} times as much with ${last.due} due as with ${first.due}`)
  }
  const seconds = dispatch.milliseconds / 1000
  const processor = (dispatch.processor / dispatch.due).toFixed(2)
  console.log(
    `  ${dispatch.due} due: every daemon told and every run over after ${seconds.toFixed(1)} s and ${dispatch.ticks} ticks, ${processor} ms of processor each`,
  )
}
