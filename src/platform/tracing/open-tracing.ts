import { randomUUID } from 'node:crypto'
import { type Attributes, SpanKind } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import { causeOf, log } from '../../log.ts'
import { version } from '../../version.ts'
import { withTimeout } from '../../with-timeout.ts'
import type { Env } from '../env.ts'
import { observeStatements } from '../statement-stats.ts'
import type { Services } from '../open-panel.ts'
import { requestSpan } from './request-span.ts'
import { type Spans, spansOf } from './spans.ts'
import { tracedServices } from './traced-services.ts'

/** Milliseconds for the last spans at a shutdown. */
const closeTimeoutMs = 5000
/** Characters of a statement that a span has. */
const maxStatementLength = 2000

export type Tracing = {
  /** Runs each request in a span. */
  request: ReturnType<typeof requestSpan>
  /** Returns the header of the span that runs; null without one. */
  traceparent: Spans['traceparent']
  /** Returns services whose calls are spans. */
  servicesOf: (services: Services) => Partial<Services>
  /** Runs a tick in a trace of its own. */
  tick: <T>(work: () => Promise<T>) => Promise<T>
  /** Sends what is left, within five seconds. */
  close: () => Promise<unknown>
}

/**
 * Opens traces that OpenTelemetry's SDK sends to `OTEL_EXPORTER_OTLP_ENDPOINT` or `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT`. The exporter reads `OTEL_EXPORTER_OTLP_*`
 * from the environment by itself. Spans that cannot be sent are dropped, and nothing waits for them.
 */
export function openTracing(env: Env): Tracing {
  const processor = new BatchSpanProcessor({
    exporter: sayingFailures(new OTLPTraceExporter()),
    scheduledDelayMillis: env.OTEL_BSP_SCHEDULE_DELAY,
  })
  const own = {
    'service.name': env.OTEL_SERVICE_NAME,
    'service.version': version,
    'service.instance.id': randomUUID(),
  }
  const provider = new TracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes(own))
      .merge(detectResources({ detectors: [envDetector] })),
    sampler: samplerOf(env),
    spanProcessors: [processor],
  })
  const spans = spansOf(provider.getTracer('roost', version))
  observeStatements((text) => spans.start(operationOf(text), statementOptions(text)))
  const shutdown = () => provider.shutdown().catch(() => undefined)
  return {
    request: requestSpan(spans),
    traceparent: spans.traceparent,
    servicesOf: (services) => tracedServices(spans, services),
    tick: (work) => spans.begin('tick', null, { kind: SpanKind.INTERNAL }, work),
    close: () => withTimeout(shutdown(), closeTimeoutMs, undefined),
  }
}

/** Returns the sampler that the environment names. Source: OpenTelemetry, general SDK configuration. */
function samplerOf({ OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: ratio }: Env): Sampler {
  const [, isParentBased, kind] = /^(parentbased_)?(.*)$/.exec(name) ?? []
  const kinds: Record<string, () => Sampler> = {
    always_off: () => new AlwaysOffSampler(),
    traceidratio: () => new TraceIdRatioBasedSampler(ratio),
  }
  const root = kinds[kind ?? '']?.() ?? new AlwaysOnSampler()
  return isParentBased ? new ParentBasedSampler({ root }) : root
}

/** The word that a statement begins with. */
const operationOf = (text: string): string => /[a-z]+/i.exec(text)?.[0].toUpperCase() ?? 'SQL'

/** The text of a statement stands without values: they are sent apart from it, and quoted ones are taken out. */
const statementOptions = (text: string): { kind: SpanKind; attributes: Attributes } => ({
  kind: SpanKind.CLIENT,
  attributes: {
    'peer.service': 'database',
    'db.system.name': 'postgresql',
    'db.operation.name': operationOf(text),
    'db.query.text': text.replaceAll(/'(?:[^']|'')*'/g, '?').slice(0, maxStatementLength),
  },
})

/** Returns an exporter that logs once that it fails, and once that it works again. */
function sayingFailures(exporter: SpanExporter): SpanExporter {
  let fails = false
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        // 0: success.
        const failed = result.code !== 0
        if (failed && !fails)
          log('warn', 'Traces cannot be sent to their receiver: spans are dropped until they can.', {
            cause: causeOf(result.error),
          })
        if (!failed && fails) log('info', 'Traces are sent again.')
        fails = failed
        done(result)
      }),
    shutdown: () => exporter.shutdown(),
  }
}
