import type { Daemon } from './daemon.ts'
import { describeError } from './panel-client.ts'

/** Work that goes on after its request was answered; `ended` never rejects. */
export type BackgroundWork = { abort: () => void; ended: Promise<void> }

/** Starts work and keeps it in `running` until it has ended. Its failure is only logged. */
export function runInBackground(
  daemon: Daemon,
  running: Set<BackgroundWork>,
  run: (signal: AbortSignal) => Promise<void>,
): void {
  const cancellation = new AbortController()
  const ended = run(cancellation.signal).catch((error: unknown) => daemon.log(describeError(error)))
  const work = { abort: () => cancellation.abort(), ended }
  running.add(work)
  void ended.finally(() => running.delete(work))
}

/** Aborts all of the work. Resolves when it has ended. */
export async function abortBackgroundWork(running: Iterable<BackgroundWork>): Promise<void> {
  const present = [...running]
  for (const work of present) work.abort()
  await Promise.all(present.map((work) => work.ended))
}
