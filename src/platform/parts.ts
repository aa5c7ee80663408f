import { httpDaemon } from '../adapters/daemon.ts'
import { circuitGuard, type Circuits } from '../adapters/daemon-circuits.ts'
import { daemonSecret, daemonUrl } from '../domain/daemon-address.ts'
import type { Trace } from '../http/traceparent.ts'
import { causeOf, log } from '../log.ts'
import type { Panel } from '../panel.ts'
import { countedGuard } from './daemon-count.ts'

/** What lives as long as the process or isolate: connections and clients, opened once. */
export type Parts = Pick<
  Panel,
  | 'config'
  | 'keys'
  | 'db'
  | 'transaction'
  | 'cache'
  | 'flights'
  | 'queue'
  | 'objects'
  | 'mail'
  | 'pastes'
  | 'oauth'
  | 'captcha'
  | 'texts'
  | 'mysqlHost'
  | 'gameQuery'
  | 'metrics'
  | 'now'
> & {
  /** Which daemons do not answer just now. */
  circuits: Circuits
  close: () => Promise<void>
}

/** What differs from request to request. */
export type RequestFacts = Pick<Panel, 'ip' | 'requestId' | 'defer'> & {
  /** Somebody's trace, of which the request is a part; null or left out without one. */
  trace?: Trace | null
}

/** Milliseconds: the queue keeps no message longer, and what is due later the tick finds. */
const longestDelay = 7 * 86_400_000

/** The panel of one request; whose it is, a surface finds out. */
export function openPanel(parts: Parts, facts: RequestFacts): Panel {
  const { circuits, close: _, ...opened } = parts
  const { trace = null, ...known } = facts
  const { config, keys, queue, metrics, now } = opened
  const traceparent = trace?.header ?? null
  return {
    ...opened,
    ...known,
    actor: { kind: 'guest' },
    daemon: (node) =>
      httpDaemon(daemonUrl(node), () => daemonSecret({ keys }, node), {
        timeout: config.daemonTimeout,
        guard: (timeout) => countedGuard(metrics, circuitGuard(circuits, node.uuid, now, timeout)),
        traceparent,
      }),
    wake: (jobs) => {
      const at = now().getTime()
      const messages = jobs
        .filter(({ runAt }) => runAt.getTime() - at <= longestDelay)
        .map(({ id, runAt }) => ({
          id,
          delay: Math.max(0, Math.ceil((runAt.getTime() - at) / 1000)),
          deduplicationId: `${id}-${runAt.getTime()}`,
          traceparent,
        }))
      if (messages.length === 0) return
      // A message that is lost costs a minute: the sweep finds the job.
      const sent = queue.send(messages).catch((error: unknown) => {
        const ids = messages.slice(0, 10).map(({ id }) => id)
        log('warn', 'Jobs could not be announced.', { jobs: ids, cause: causeOf(error) })
      })
      facts.defer(sent)
    },
  }
}
