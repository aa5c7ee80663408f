import type { Daemon } from './daemon.ts'
import { describe } from './panel-client.ts'

/** Something that goes on after its request was answered; `ended` never rejects. */
export type BackgroundWork = { abort: () => void; ended: Promise<void> }

/** Begins a piece of work at once, which is one of `works` until it has ended; its failure is only logged. */
export function runInBackground(
  daemon: Daemon,
  works: Set<BackgroundWork>,
  run: (signal: AbortSignal) => Promise<void>,
): void {
  const cancellation = new AbortController()
  const ended = run(cancellation.signal).catch((error: unknown) => daemon.log(describe(error)))
  const work = { abort: () => cancellation.abort(), ended }
  works.add(work)
  void ended.finally(() => works.delete(work))
}

/** Gives up all of it. Resolves when it has ended. */
export async function endWorks(works: Iterable<BackgroundWork>): Promise<void> {
  const present = [...works]
  for (const work of present) work.abort()
  await Promise.all(present.map((work) => work.ended))
}
