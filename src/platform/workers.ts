import type { ExecutionContext } from 'hono'
import { canonicalAddress } from '../ip-addresses.ts'
import { cachedServices, type OptionalServices } from './cloud-services.ts'
import { finishDeferred, runTick, type Tick } from './deferred-work.ts'
import { createSchemaGuard } from './schema-guard.ts'
import { serve, type Surface } from './serve.ts'
import { workersEgress } from './workers-egress.ts'

type Bindings = Record<string, unknown>

export type Worker = {
  fetch: (request: Request, env: Bindings, context: ExecutionContext) => Response | Promise<Response>
  scheduled?: (event: unknown, env: Bindings) => Promise<void>
}

/** Creates a Cloudflare Worker that serves the surfaces. */
export function worker(
  surfaces: Surface[],
  {
    tick,
    ...optionalServices
  }: OptionalServices & { /** For a worker with a cron trigger. */ tick?: Tick } = {},
): Worker {
  const services = cachedServices('workers', workersEgress, optionalServices)
  const schemaGuard = createSchemaGuard()
  const app = serve(
    {
      services: (c) => services(c.env),
      // Cloudflare sets this header; callers can forge all others.
      clientAddress: (c) => canonicalAddress(c.req.header('cf-connecting-ip') ?? '') ?? '0.0.0.0',
      waitUntil: (c, work) => c.executionCtx.waitUntil(finishDeferred(work)),
      schemaGuard,
    },
    ...surfaces,
  )
  return {
    fetch: (request, env, context) => app.fetch(request, env, context),
    ...(tick ? { scheduled: async (_event, env) => runTick(await services(env), tick, schemaGuard) } : {}),
  }
}
