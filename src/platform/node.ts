import { tick } from '../domain/tick.ts'
import type { Panel } from '../panel.ts'
import { finish } from './background.ts'
import { type Env, readEnv } from './env.ts'
import { openControlSocket } from './local/control-socket.ts'
import { openDataDirectory } from './local/data-directory.ts'
import { type Bootstrap, openDemo } from './local/demo.ts'
import type { ObjectEndpoint } from './local/objects/endpoint.ts'
import { objectsPath, openLocalParts } from './local/parts.ts'
import { limitConnecting } from './connect-timeout.ts'
import { listenOn, socketAddress } from './node-http.ts'
import { openPanel, type Parts } from './parts.ts'
import { serve, type Surface } from './serve.ts'
import { webAssets } from './web-assets.ts'

const minute = 60_000

export type RunningPanel = { url: string; bootstrap: Bootstrap | null; close: () => Promise<void> }

/** Answers what the command line asks of this process. */
export type AnswerVerb = (panel: Panel, asked: unknown) => Promise<unknown>

type Log = (line: string) => void
/** Undo what was opened, the newest first. */
type Closers = (() => unknown)[]

/**
 * The whole panel in this process: every surface on one port, over what the environment names and
 * embedded parts for the rest. Throws an `EnvironmentError` that names every variable at fault.
 */
export async function startNode(
  raw: Record<string, unknown>,
  surfaces: Surface[],
  answerVerb: AnswerVerb,
  log: Log = console.log,
): Promise<RunningPanel> {
  const env = readEnv(raw)
  await limitConnecting()
  const closers: Closers = []
  const close = async () => {
    for (const closer of closers.splice(0).toReversed()) await closer()
  }
  try {
    return { ...(await open(env, surfaces, answerVerb, log, closers)), close }
  } catch (error) {
    await close()
    throw error
  }
}

async function open(env: Env, surfaces: Surface[], answerVerb: AnswerVerb, log: Log, closers: Closers) {
  const directory = await openDataDirectory(env.DATA_DIR)
  closers.push(directory.release)
  const background = keepBackground()
  const opening = Promise.withResolvers<Parts>()
  // Requests that come before the parts are open wait for them; a failure is thrown by what failed.
  opening.promise.catch(() => undefined)
  const app = serve(
    {
      parts: () => opening.promise,
      address: (c) => socketAddress(c, env.TRUSTED_PROXIES),
      settle: (_c, work) => background.add(finish(work)),
      assets: webAssets,
    },
    ...surfaces,
  )
  let objects: ObjectEndpoint | null = null
  const listener = await listenOn(env, (request, bindings) => {
    const { pathname } = new URL(request.url)
    if (objects && pathname.startsWith(`${objectsPath}/`)) return objects(request)
    return app.fetch(request, bindings)
  })
  closers.push(() => opening.reject(new Error('The panel has ended.')), listener.close)
  const url = env.APP_URL ?? originOf(env.HOST, listener.port)
  const deliver = async (request: Request) => app.fetch(request)
  const { parts, objectEndpoint } = await openLocalParts(env, { directory, url, deliver })
  // Closed after what was under way is done.
  closers.splice(1, 0, parts.close, background.done)
  objects = objectEndpoint
  opening.resolve(parts)
  const facts = {
    ip: '127.0.0.1',
    requestId: 'process',
    defer: (work: Promise<unknown>) => background.add(finish([work])),
  }
  const panel: Panel = { ...openPanel(parts, facts), actor: { kind: 'system' } }
  closers.push(tickEveryMinute(panel))
  if (!env.DATABASE_URL) closers.push(await takeVerbs(panel, directory.path, answerVerb))
  const demo = env.DEMO ? await openDemo(panel, directory.path, log) : null
  if (demo) closers.push(demo.daemon.close)
  return { url, bootstrap: demo?.bootstrap ?? null }
}

const originOf = (host: string, port: number) => `http://${host.includes(':') ? `[${host}]` : host}:${port}`

/** Work that goes on after its request was answered. */
function keepBackground(): { add: (work: Promise<unknown>) => void; done: () => Promise<unknown> } {
  const pending = new Set<Promise<unknown>>()
  return {
    add: (work) => {
      pending.add(work)
      const forget = () => pending.delete(work)
      work.then(forget, forget)
    },
    done: () => Promise.allSettled(pending),
  }
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

/** The command line reaches the embedded database through this process; without a socket, only when it has ended. */
async function takeVerbs(panel: Panel, directory: string, answerVerb: AnswerVerb): Promise<() => unknown> {
  try {
    return (await openControlSocket(directory, (asked) => answerVerb(panel, asked))).close
  } catch (error) {
    console.warn(
      'The command line cannot reach this process:',
      error instanceof Error ? error.message : error,
    )
    return () => undefined
  }
}
