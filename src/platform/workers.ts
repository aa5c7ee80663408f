import type { ExecutionContext } from 'hono'
import { canonicalAddress } from '../addresses.ts'
import { finish, runTick, type Tick } from './background.ts'
import { type AskGames, keepParts, type OpenMysqlHost } from './cloud-parts.ts'
import { serve, type Surface } from './serve.ts'

type Bindings = Record<string, unknown>

export type Worker = {
  fetch: (request: Request, env: Bindings, context: ExecutionContext) => Response | Promise<Response>
  scheduled?: (event: unknown, env: Bindings) => Promise<void>
}

/** What only some workers need, since it makes a bundle larger. */
type Equipment = {
  /** For a worker with a cron trigger. */
  tick?: Tick
  /** For one that reaches database hosts. */
  mysqlHost?: OpenMysqlHost
  /** For one that runs jobs. */
  gameQuery?: AskGames
}

/** Surfaces as a Cloudflare Worker. */
export function worker(surfaces: Surface[], { tick, mysqlHost, gameQuery }: Equipment = {}): Worker {
  const parts = keepParts('workers', mysqlHost ?? null, gameQuery ?? null)
  const app = serve(
    {
      parts: (c) => parts(c.env),
      // The edge sets this header itself; what callers send under other names is only a claim.
      address: (c) => canonicalAddress(c.req.header('cf-connecting-ip') ?? '') ?? '0.0.0.0',
      settle: (c, work) => c.executionCtx.waitUntil(finish(work)),
    },
    ...surfaces,
  )
  return {
    fetch: (request, env, context) => app.fetch(request, env, context),
    ...(tick ? { scheduled: async (_event, env) => runTick(await parts(env), tick) } : {}),
  }
}
