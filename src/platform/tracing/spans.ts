import { AsyncLocalStorage } from 'node:async_hooks'
import {
  type Attributes,
  type Context,
  createTraceState,
  ROOT_CONTEXT,
  type Span,
  type SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api'
import type { Trace } from '../../http/traceparent.ts'
import { causeOf, originOf } from '../../log.ts'

export type SpanOptions = { kind: SpanKind; attributes?: Attributes }

/** Runs work in spans, and knows the one that runs. */
export type Spans = {
  /** Runs work in a span whose parent is another program's, null begins a trace. */
  begin: <T>(
    name: string,
    parent: Trace | null,
    options: SpanOptions,
    work: (span: Span) => Promise<T>,
  ) => Promise<T>
  /** Runs work in a span below the current one; without one it only runs it. */
  below: <T>(name: string, options: SpanOptions, work: (span: Span | null) => Promise<T>) => Promise<T>
  /** Starts a span below the current one, and returns what ends it; null without one. */
  start: (name: string, options: SpanOptions) => ((error?: unknown) => void) | null
  /** Returns the `traceparent` of the current span; null without one. */
  traceparent: () => string | null
}

/** Makes spans by a tracer. What runs belongs to the span in which it was started, also after that has ended. */
export function spansOf(tracer: Tracer): Spans {
  const current = new AsyncLocalStorage<Context>()
  const runIn = <T>(
    parent: Context,
    name: string,
    options: SpanOptions,
    work: (span: Span) => Promise<T>,
  ): Promise<T> => {
    const span = tracer.startSpan(name, options, parent)
    return current.run(trace.setSpan(parent, span), async () => {
      try {
        return await work(span)
      } catch (error) {
        recordError(span, error)
        throw error
      } finally {
        span.end()
      }
    })
  }
  return {
    begin: (name, parent, options, work) => runIn(contextOf(parent), name, options, work),
    below: (name, options, work) => {
      const parent = current.getStore()
      return parent ? runIn(parent, name, options, work) : work(null)
    },
    start: (name, options) => {
      const parent = current.getStore()
      if (!parent) return null
      const span = tracer.startSpan(name, options, parent)
      return (error) => {
        if (error !== undefined) recordError(span, error)
        span.end()
      }
    },
    traceparent: () => {
      const context = current.getStore()
      const found = context && trace.getSpanContext(context)
      return found ? `00-${found.traceId}-${found.spanId}-0${found.traceFlags & 1}` : null
    },
  }
}

/** Returns the context in which the caller's span is the parent. */
function contextOf(parent: Trace | null): Context {
  if (!parent) return ROOT_CONTEXT
  const [, traceId = '', spanId = '', flags = ''] = parent.header.split('-')
  const traceFlags = Number.parseInt(flags, 16)
  const state = parent.state === null ? {} : { traceState: createTraceState(parent.state) }
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true, ...state })
}

/** Records an error with as much of its message as the log has: without addresses, secrets and quoted text. */
export function recordError(span: Span, error: unknown): void {
  if (!span.isRecording()) return
  const cause = causeOf(error)
  const { stack = [], ...origin } = error instanceof Error ? originOf(error) : { error: typeof error }
  span.addEvent('exception', {
    'exception.type': String(origin.error),
    'exception.message': cause,
    'exception.stacktrace': Array.isArray(stack) ? stack.join('\n') : '',
  })
  span.setStatus({ code: SpanStatusCode.ERROR, message: cause })
}
