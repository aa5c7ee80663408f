import type { Worker } from 'node:cluster'
import { type Counters, mergeCounters } from './merged-counters.ts'
import { isMessage, type MetricsMessage, type MetricsOfAllMessage } from './process-messages.ts'

/** Milliseconds that a process has to say its metrics. */
const timeoutMs = 2000

/** A process, its place among those that run at once, and what it said last. */
type Member = { worker: Worker; place: number; said: Omit<MetricsMessage, 'kind'> | null }

/** Gathers the metrics of processes for the one of them that is scraped. */
export type MetricsHub = {
  /** Adds a process that answers requests, at its place, which begins with 1. */
  join: (worker: Worker, place: number) => void
}

/**
 * Lets processes ask for the metrics of all. What ended processes counted stays counted, as far as they have said it:
 * a sum that falls would look as if everything were counted anew.
 */
export function gatherMetrics(): MetricsHub {
  const members = new Map<number, Member>()
  const asked = new EventTarget()
  let ended: Counters = []
  let round = 0
  const answerTo = async (worker: Worker) => {
    round += 1
    const own = round
    await Promise.all([...members.values()].map((member) => ask(asked, member, own)))
    const all = [...members.values()]
    const counters = mergeCounters([ended, ...all.map(({ said }) => said?.counters ?? [])])
    // Of two in one place, the older one lets its callers go.
    const newest = new Map(all.map((member) => [member.place, member]))
    const processes = [...newest.values()].flatMap(({ place, said }) =>
      said?.round === own ? [{ place, metrics: said.metrics }] : [],
    )
    send(worker, { kind: 'metrics-of-all', counters, processes } satisfies MetricsOfAllMessage)
  }
  return {
    join: (worker, place) => {
      const member: Member = { worker, place, said: null }
      members.set(worker.id, member)
      worker.on('message', (message: unknown) => {
        if (isMessage(message, 'metrics-wanted')) void answerTo(worker)
        if (!isMessage(message, 'metrics')) return
        member.said = message as MetricsMessage
        asked.dispatchEvent(new Event(`${worker.id} ${member.said.round}`))
      })
      worker.once('exit', () => {
        members.delete(worker.id)
        ended = mergeCounters([ended, member.said?.counters ?? []])
      })
    },
  }
}

function send(worker: Worker, message: object): void {
  if (worker.isConnected()) worker.send(message, () => undefined)
}

/** Asks a process, and waits until it answers this round, ends or takes too long. */
async function ask(asked: EventTarget, { worker }: Member, round: number): Promise<void> {
  if (!worker.isConnected()) return
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, timeoutMs)
  const done = () => resolve()
  const type = `${worker.id} ${round}`
  asked.addEventListener(type, done, { once: true })
  worker.once('exit', done)
  send(worker, { kind: 'metrics-read', round })
  await promise
  clearTimeout(timer)
  asked.removeEventListener(type, done)
  worker.off('exit', done)
}
