import { SpanKind, SpanStatusCode } from '@opentelemetry/api'
import type { DaemonFetch } from '../../adapters/daemon-http.ts'
import type { Queue } from '../../adapters/queue.ts'
import type { Services } from '../open-panel.ts'
import type { Spans } from './spans.ts'

type Traced = Pick<Services, 'cache' | 'queue' | 'objects' | 'mail' | 'daemonFetch'>

/** Returns services whose calls are spans: of what was called, without keys, addresses and contents. */
export const tracedServices = (spans: Spans, services: Traced): Traced => ({
  cache: tracedMethods(spans, 'cache', services.cache),
  objects: tracedMethods(spans, 'objects', services.objects),
  mail: tracedMethods(spans, 'mail', services.mail),
  queue: tracedQueue(spans, services.queue),
  daemonFetch: tracedDaemonFetch(spans, services.daemonFetch),
})

/** Returns an object whose methods, also of objects in it, are spans named `<name> <method>`. */
function tracedMethods<T extends object>(spans: Spans, name: string, target: T): T {
  const members = Object.entries(target).map(([key, member]: [string, unknown]) => {
    if (typeof member === 'object' && member !== null)
      return [key, tracedMethods(spans, `${name} ${key}`, member)]
    if (typeof member !== 'function') return [key, member]
    const options = { kind: SpanKind.CLIENT, attributes: { 'peer.service': name.split(' ')[0] ?? name } }
    return [
      key,
      (...input: unknown[]) =>
        spans.below(`${name} ${key}`, options, async () => member.apply(target, input)),
    ]
  })
  return Object.fromEntries(members) as T
}

/** Messages get the trace of their own sending: what they wake stands below it. */
function tracedQueue(spans: Spans, queue: Queue): Queue {
  return {
    ...queue,
    send: (messages) => {
      const attributes = { 'peer.service': 'queue', 'messaging.batch.message_count': messages.length }
      return spans.below('queue send', { kind: SpanKind.PRODUCER, attributes }, () =>
        queue.send(
          messages.map((message) => ({
            ...message,
            traceparent: spans.traceparent() ?? message.traceparent ?? null,
          })),
        ),
      )
    },
  }
}

const tracedDaemonFetch =
  (spans: Spans, send: DaemonFetch): DaemonFetch =>
  (url, init) => {
    const { hostname, port, pathname } = new URL(url)
    const template = templateOf(pathname)
    const attributes = {
      'peer.service': 'daemon',
      'http.request.method': init.method,
      'url.template': template,
      'server.address': hostname,
      ...(port === '' ? {} : { 'server.port': Number(port) }),
    }
    const options = { kind: SpanKind.CLIENT, attributes }
    return spans.below(`daemon ${init.method} ${template}`, options, async (span) => {
      const traceparent = spans.traceparent()
      const headers = traceparent === null ? init.headers : { ...init.headers, traceparent }
      const response = await send(url, { ...init, headers })
      span?.setAttribute('http.response.status_code', response.status)
      if (response.status >= 400) span?.setStatus({ code: SpanStatusCode.ERROR })
      return response
    })
  }

/** Returns a path of a daemon with `:id` in place of ids: its own words are small letters and dashes. */
const templateOf = (path: string): string => path.replaceAll(/\/(?![a-z-]+(?:\/|$))[^/]+/g, '/:id')
