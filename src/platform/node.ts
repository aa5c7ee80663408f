import { type HttpBindings, serve as listen, type ServerType } from '@hono/node-server'
import type { Context, Hono } from 'hono'
import { canonicalAddress } from '../addresses.ts'
import { tick } from '../domain/tick.ts'
import type { Panel } from '../panel.ts'
import { type Env, readEnv } from './env.ts'
import { openDataDirectory } from './local/data-directory.ts'
import { type Bootstrap, openDemo } from './local/demo.ts'
import { openLocalParts } from './local/parts.ts'
import { openPanel, type Parts } from './parts.ts'
import { serve, type Surface } from './serve.ts'

const minute = 60_000

export type RunningPanel = { url: string; bootstrap: Bootstrap | null; close: () => Promise<void> }

/**
 * The whole panel in this process: every surface on one port, over what the environment names and
 * embedded parts for the rest. Throws an `EnvironmentError` that names every variable at fault.
 */
export async function startNode(
  raw: Record<string, unknown>,
  surfaces: Surface[],
  log: (line: string) => void = console.log,
): Promise<RunningPanel> {
  const env = readEnv(raw)
  const directory = await openDataDirectory(env.DATA_DIR)
  const opening = Promise.withResolvers<Parts>()
  // Requests that come before the parts are open wait for them; a failure is thrown below.
  opening.promise.catch(() => undefined)
  const pending = new Set<Promise<unknown>>()
  const settle = (work: Promise<unknown>) => {
    pending.add(work)
    void work.finally(() => pending.delete(work))
  }
  const app = serve(
    {
      parts: () => opening.promise,
      address: (c) => socketAddress(c, env.TRUSTED_PROXIES),
      settle: (_c, work) => work.forEach(settle),
    },
    ...surfaces,
  )
  try {
    let objects: Hono | null = null
    const { server, port } = await listenOn(env, (request, bindings) =>
      objects && new URL(request.url).pathname.startsWith('/objects/')
        ? objects.fetch(request)
        : app.fetch(request, bindings),
    )
    const url = env.APP_URL ?? `http://${env.HOST.includes(':') ? `[${env.HOST}]` : env.HOST}:${port}`
    const { parts, objectsApp } = await openLocalParts(env, { directory, url, deliver: async (request) => app.fetch(request) })
    objects = objectsApp
    opening.resolve(parts)
    const panel: Panel = {
      ...openPanel(parts, { ip: '127.0.0.1', requestId: 'process', defer: settle }),
      actor: { kind: 'system' },
    }
    const stopTicking = tickEveryMinute(panel)
    const demo = env.DEMO ?? env.DATABASE_URL === undefined ? await openDemo(panel, directory.path, log) : null
    const close = async () => {
      stopTicking()
      await demo?.daemon.close()
      await new Promise((resolve) => server.close(resolve))
      await Promise.allSettled(pending)
      await parts.close()
      await directory.release()
    }
    return { url, bootstrap: demo?.bootstrap ?? null, close }
  } catch (error) {
    opening.reject(error)
    await directory.release()
    throw error
  }
}

/** The socket's address; behind trusted proxies, the entry which the outermost of them added. */
function socketAddress(c: Context<{ Bindings: HttpBindings }>, trustedProxies: number): string {
  const forwarded = (c.req.header('x-forwarded-for') ?? '').split(',').map((part) => part.trim())
  const claimed = trustedProxies > 0 ? forwarded.at(-trustedProxies) : undefined
  return canonicalAddress(claimed || (c.env?.incoming?.socket.remoteAddress ?? '')) ?? '0.0.0.0'
}

function listenOn(env: Env, fetch: (request: Request, bindings: unknown) => Response | Promise<Response>) {
  return new Promise<{ server: ServerType; port: number }>((resolve, reject) => {
    const server = listen({ fetch, hostname: env.HOST, port: env.PORT }, (info) => resolve({ server, port: info.port }))
    server.on('error', reject)
  })
}

function tickEveryMinute(panel: Panel): () => void {
  const run = () => {
    tick(panel).catch((error: unknown) => console.error('The minute tick failed:', error))
  }
  run()
  const timer = setInterval(run, minute)
  timer.unref()
  return () => clearInterval(timer)
}
