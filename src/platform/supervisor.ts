import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import { log } from '../log.ts'
import { handOutConnections } from './connection-hand-out.ts'
import { gatherMetrics, type MetricsHub } from './gathered-metrics.ts'
import { withTimeout } from '../with-timeout.ts'
import {
  type EndMessage,
  firstProcessVariable,
  isMessage,
  ping,
  type ReadyMessage,
} from './process-messages.ts'

/** Milliseconds after which a process that shuts down is killed. */
const maxEndMs = 40_000
/** Milliseconds until a process that ended is started again: the first time, and at most. */
const restartDelayMs = { first: 100, max: 30_000 }
/** Milliseconds after which a process counts as one that runs well. */
const settledMs = 60_000

/** Milliseconds within which a process has to answer a ping. */
const maxPingMs = 10_000

/** A place for one process, which is started again when it ends. */
type Slot = { worker: Worker | null; isStarting: boolean; failures: number; startedAt: number }

export type Supervisor = {
  /** Resolves with the first process, once all answer. Rejects when one ends before. */
  started: Promise<ReadyMessage>
  /** Replaces one process after the other; resolves once all are new. */
  renew: () => Promise<void>
  /** Whether every process that serves answers within ten seconds; those that are being started again do not count. */
  isAlive: () => Promise<boolean>
  /** Shuts all processes down. */
  end: () => Promise<void>
}

/** Runs processes of this program, which share its port, and starts those again that end by themselves. */
export function superviseProcesses(count: number): Supervisor {
  const slots: Slot[] = Array.from({ length: count }, () => ({
    worker: null,
    isStarting: false,
    failures: 0,
    startedAt: 0,
  }))
  const state = {
    isEnding: false,
    isStarted: false,
    metrics: gatherMetrics(),
    handOutTo: handOutConnections(),
    slots,
  }
  let renewal: Promise<void> = Promise.resolve()
  const started = startAll(slots, state)
  return {
    started,
    renew: () => (renewal = renewal.then(() => renewAll(slots, state))),
    isAlive: async () => {
      const serving = slots.flatMap(({ worker }) => worker ?? [])
      return (await Promise.all(serving.map(answersPing))).every(Boolean)
    },
    end: async () => {
      state.isEnding = true
      const running = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined)
      await Promise.all(running.map((worker, at) => endWorker(worker, { drains: false, leaves: at === 0 })))
    },
  }
}

type State = {
  isEnding: boolean
  isStarted: boolean
  metrics: MetricsHub
  handOutTo: (worker: Worker) => void
  slots: Slot[]
}

/** Starts the first process alone, since it may have to migrate and to fill the database. */
async function startAll(slots: Slot[], state: State): Promise<ReadyMessage> {
  const [first, ...others] = slots
  if (!first) throw new Error('There is no process to start.')
  const ready = await startIn(first, state, { [firstProcessVariable]: '1' })
  await Promise.all(others.map((slot) => startIn(slot, state)))
  state.isStarted = true
  return ready
}

/** Starts a process and puts it into its place once it answers. Rejects when it ends before. */
async function startIn(slot: Slot, state: State, variables = {}): Promise<ReadyMessage> {
  const worker = cluster.fork(variables)
  worker.on('error', () => undefined)
  state.handOutTo(worker)
  slot.isStarting = true
  const ready = await untilReady(worker).finally(() => (slot.isStarting = false))
  state.metrics.join(worker, state.slots.indexOf(slot) + 1)
  slot.worker = worker
  slot.startedAt = performance.now()
  worker.once('exit', (code, signal) => {
    if (slot.worker !== worker || state.isEnding || !state.isStarted) return
    slot.worker = null
    log('warn', 'A process ended and is started again.', { cause: signal ?? `exit code ${code}` })
    startAgain(slot, state)
  })
  return ready
}

async function untilReady(worker: Worker): Promise<ReadyMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<ReadyMessage>()
  worker.on('message', (message: unknown) => {
    if (isMessage(message, 'ready')) resolve(message as ReadyMessage)
  })
  worker.once('exit', (code, signal) =>
    reject(new Error(`A process ended before it answered (${signal ?? `exit code ${code}`}).`)),
  )
  return promise
}

/** Starts a process in a place that lost its own: at once, or ever later while it does not run well. */
function startAgain(slot: Slot, state: State): void {
  const ranWell = slot.startedAt > 0 && performance.now() - slot.startedAt >= settledMs
  slot.failures = ranWell ? 0 : slot.failures + 1
  const delay = Math.min(restartDelayMs.max, restartDelayMs.first * 2 ** Math.min(slot.failures, 12))
  setTimeout(() => {
    if (state.isEnding || slot.isStarting || slot.worker) return
    slot.startedAt = 0
    startIn(slot, state).catch(() => startAgain(slot, state))
  }, delay)
}

/** Whether a process sends a ping back. One that has ended is not one that hangs. */
async function answersPing(worker: Worker): Promise<boolean> {
  if (!worker.isConnected()) return true
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const onMessage = (message: unknown) => isMessage(message, ping.kind) && resolve(true)
  const onExit = () => resolve(true)
  worker.on('message', onMessage).once('exit', onExit)
  worker.send(ping)
  const answered = await withTimeout(promise, maxPingMs, false)
  worker.off('message', onMessage).off('exit', onExit)
  return answered
}

async function renewAll(slots: Slot[], state: State): Promise<void> {
  log('info', 'All processes are replaced.')
  for (const slot of slots) {
    if (state.isEnding) return
    const old = slot.worker
    try {
      await startIn(slot, state)
    } catch {
      if (state.isEnding) return
      log('error', 'A new process did not start; the old ones go on.', {
        cause: 'Its own message says why. Correct it, and send the signal again.',
      })
      return
    }
    if (old) await endWorker(old, { drains: true, leaves: false })
  }
  log('info', 'All processes are new.')
}

async function endWorker(worker: Worker, how: Omit<EndMessage, 'kind'>): Promise<void> {
  if (worker.isDead()) return
  const ended = once(worker, 'exit')
  const timer = setTimeout(() => worker.process.kill('SIGKILL'), maxEndMs)
  if (worker.isConnected()) worker.send({ kind: 'end', ...how } satisfies EndMessage)
  await ended
  clearTimeout(timer)
}
