import { tick } from '../domain/tick.ts'
import { causeOf, log as writeLog, setLogLevel } from '../log.ts'
import type { Panel } from '../panel.ts'
import { finish, tickUnlessBehind } from './background.ts'
import { type Env, readEnv } from './env.ts'
import { openControlSocket } from './local/control-socket.ts'
import { openDataDirectory } from './local/data-directory.ts'
import { type Bootstrap, openDemo } from './local/demo.ts'
import type { ObjectEndpoint } from './local/objects/endpoint.ts'
import { objectsPath, openLocalParts } from './local/parts.ts'
import { limitConnecting } from './connect-timeout.ts'
import { listenOn, socketAddress } from './node-http.ts'
import { openPanel, type Parts } from './parts.ts'
import { migratePostgres } from './postgres.ts'
import { type SchemaGuard, schemaGuard } from './schema-guard.ts'
import { serve, type Surface } from './serve.ts'
import { webAssets } from './web-assets.ts'

const minute = 60_000
/** Milliseconds for what is under way when the panel closes; what is left then is cut off, and jobs are left to their leases. */
const grace = 25_000

/** `close` ends orderly, within half a minute: nobody is let in any more, requests and work under way are finished. */
export type RunningPanel = { url: string; bootstrap: Bootstrap | null; close: () => Promise<void> }

/** Answers what the command line asks of this process. */
export type AnswerVerb = (panel: Panel, asked: unknown) => Promise<unknown>

type Log = (line: string) => void
/** Undo what was opened, the newest first; waiting no longer than until then (milliseconds since 1970). */
type Closers = ((until: number) => unknown)[]

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
  setLogLevel(env.LOG_LEVEL)
  await limitConnecting()
  const closers: Closers = []
  const close = async () => {
    const until = Date.now() + grace
    for (const closer of closers.splice(0).toReversed()) await closer(until)
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
  const schema = env.DATABASE_URL && env.DATABASE_DRIVER === 'neon' ? schemaGuard() : null
  const app = serve(
    {
      parts: () => opening.promise,
      address: (c) => socketAddress(c, env.TRUSTED_PROXIES),
      settle: (_c, work) => background.add(finish(work)),
      assets: webAssets,
      schema,
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
  const deliver = (request: Request) => background.run(async () => app.fetch(request))
  if (env.DATABASE_URL && !schema) await migratePostgres(env.DATABASE_URL)
  const { parts, objectEndpoint } = await openLocalParts(env, { directory, url, deliver })
  // Closed after what was under way is done; messages that wait are found by the tick of the next process.
  closers.splice(1, 0, parts.close, background.done)
  objects = objectEndpoint
  opening.resolve(parts)
  const facts = {
    ip: '127.0.0.1',
    requestId: 'process',
    defer: (work: Promise<unknown>) => background.add(finish([work])),
  }
  const panel: Panel = { ...openPanel(parts, facts), actor: { kind: 'system' } }
  closers.push(tickEveryMinute(panel, background, schema))
  if (!env.DATABASE_URL) closers.push(await takeVerbs(panel, directory.path, answerVerb))
  const mayWrite = !(await schema?.isBehind(panel.db))
  const demo = env.DEMO !== false && mayWrite ? await openDemo(panel, directory.path, log) : null
  if (demo) closers.push(demo.daemon.close)
  // Before anything else is closed, since requests under way may need all of it.
  closers.push(listener.close)
  return { url, bootstrap: demo?.bootstrap ?? null }
}

const originOf = (host: string, port: number) => `http://${host.includes(':') ? `[${host}]` : host}:${port}`

type Background = {
  add: (work: Promise<unknown>) => void
  /** The same for work that has to begin first. */
  run: <T>(work: () => Promise<T>) => Promise<T>
  done: (until: number) => Promise<unknown>
}

/** Work that no open request waits for. */
function keepBackground(): Background {
  const pending = new Set<Promise<unknown>>()
  const add = (work: Promise<unknown>) => {
    pending.add(work)
    const forget = () => pending.delete(work)
    work.then(forget, forget)
  }
  return {
    add,
    run: (work) => {
      const running = work()
      add(running)
      return running
    },
    done: async (until) => {
      const { promise: late, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, until - Date.now())
      await Promise.race([Promise.allSettled(pending), late])
      clearTimeout(timer)
    },
  }
}

function tickEveryMinute(panel: Panel, background: Background, schema: SchemaGuard | null): () => void {
  const run = () => {
    const ticking = tickUnlessBehind(panel, tick, schema).catch((error: unknown) =>
      writeLog('error', 'The tick failed.', { cause: causeOf(error) }),
    )
    background.add(ticking)
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
    writeLog('warn', 'The command line cannot reach this process.', { cause: causeOf(error) })
    return () => undefined
  }
}
