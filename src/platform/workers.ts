import type { ExecutionContext } from 'hono'
import { canonicalAddress } from '../addresses.ts'
import { finish, runTick, type Tick } from './background.ts'
import { type Equipment, keepParts } from './cloud-parts.ts'
import { schemaGuard } from './schema-guard.ts'
import { serve, type Surface } from './serve.ts'

type Bindings = Record<string, unknown>

export type Worker = {
  fetch: (request: Request, env: Bindings, context: ExecutionContext) => Response | Promise<Response>
  scheduled?: (event: unknown, env: Bindings) => Promise<void>
}

/** Surfaces as a Cloudflare Worker. */
export function worker(
  surfaces: Surface[],
  { tick, ...equipment }: Equipment & { /** For a worker with a cron trigger. */ tick?: Tick } = {},
): Worker {
  const parts = keepParts('workers', equipment)
  const schema = schemaGuard()
  const app = serve(
    {
      parts: (c) => parts(c.env),
      // The edge sets this header itself; what callers send under other names is only a claim.
      address: (c) => canonicalAddress(c.req.header('cf-connecting-ip') ?? '') ?? '0.0.0.0',
      settle: (c, work) => c.executionCtx.waitUntil(finish(work)),
      schema,
    },
    ...surfaces,
  )
  return {
    fetch: (request, env, context) => app.fetch(request, env, context),
    ...(tick ? { scheduled: async (_event, env) => runTick(await parts(env), tick, schema) } : {}),
  }
}
