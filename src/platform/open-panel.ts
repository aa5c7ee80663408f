import { httpDaemon } from '../adapters/daemon.ts'
import type { DaemonFetch } from '../adapters/daemon-http.ts'
import { circuitBreaker, type CircuitBreakers, isSilent } from '../adapters/daemon-circuit-breaker.ts'
import { decryptDaemonToken, daemonUrl } from '../domain/nodes/daemon-address.ts'
import type { Trace } from '../http/traceparent.ts'
import { causeOf, log } from '../log.ts'
import type { Panel } from '../panel.ts'
import { measuredGuard } from './daemon-metrics.ts'

/** The part of a panel that lives as long as the process or isolate: connections and clients. */
export type Services = Pick<
  Panel,
  | 'config'
  | 'keys'
  | 'db'
  | 'transaction'
  | 'cache'
  | 'inFlight'
  | 'queue'
  | 'objects'
  | 'mail'
  | 'pastes'
  | 'publicFetch'
  | 'oauth'
  | 'captcha'
  | 'locales'
  | 'mysqlHost'
  | 'probeNode'
  | 'startDemo'
  | 'readMetrics'
  | 'snapshot'
  | 'moveIn'
  | 'gameQuery'
  | 'metrics'
  | 'now'
> & {
  /** State of the circuit breaker of each node. */
  circuitBreakers: CircuitBreakers
  /** Sends requests to daemons. */
  daemonFetch: DaemonFetch
  close: () => Promise<void>
}

/** The part of a panel that belongs to one request. */
export type RequestContext = Pick<Panel, 'ip' | 'requestId' | 'defer'> & {
  /** The caller's trace; null or left out without one. */
  trace?: Trace | null
}

/** Milliseconds for which the queue keeps a message; the tick finds jobs that are due later. */
const maxDelayMs = 7 * 86_400_000

/** Opens the panel of one request, as a guest; the surface authenticates the caller. */
export function openPanel(services: Services, context: RequestContext): Panel {
  const { circuitBreakers, daemonFetch, close: _, ...opened } = services
  const { trace = null, ...requestContext } = context
  const { config, keys, queue, metrics, now } = opened
  const [traceparent, tracestate] = [trace?.header ?? null, trace?.state ?? null]
  return {
    ...opened,
    ...requestContext,
    actor: { kind: 'guest' },
    daemon: (node) =>
      httpDaemon(daemonUrl(node), () => decryptDaemonToken({ keys }, node), {
        timeoutMs: config.daemonTimeoutMs,
        guard: (timeout) => measuredGuard(metrics, circuitBreaker(circuitBreakers, node.uuid, now, timeout)),
        fetch: daemonFetch,
        traceparent,
        tracestate,
        node: node.uuid,
      }),
    isNodeSilent: (node) => isSilent(circuitBreakers, node.uuid, now()),
    wake: (jobs) => {
      const nowMs = now().getTime()
      const messages = jobs
        .filter(({ runAt }) => runAt.getTime() - nowMs <= maxDelayMs)
        .map(({ id, runAt }) => ({
          id,
          delaySeconds: Math.max(0, Math.ceil((runAt.getTime() - nowMs) / 1000)),
          deduplicationId: `${id}-${runAt.getTime()}`,
          traceparent,
          tracestate,
        }))
      if (messages.length === 0) return
      // A lost message delays a job by a minute at most, until the tick finds it.
      const sent = queue.send(messages).catch((error: unknown) => {
        const ids = messages.slice(0, 10).map(({ id }) => id)
        log('warn', 'Jobs could not be announced.', { jobs: ids, cause: causeOf(error) })
      })
      context.defer(sent)
    },
  }
}
