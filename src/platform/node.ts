import { encodedPath } from '../http/ambiguous-paths.ts'
import { setScrypt } from '../domain/auth/password-hash.ts'
import { runTick } from '../domain/jobs/tick.ts'
import { hasAdministrator } from '../domain/users/administrators.ts'
import { causeOf, log as writeLog, setLogLevel } from '../log.ts'
import type { Panel } from '../panel.ts'
import { withTimeout } from '../with-timeout.ts'
import { finishDeferred, tickIfSchemaCurrent } from './deferred-work.ts'
import { hasDemo, offersDemo } from './demo-places.ts'
import { type Env, readEnv } from './env.ts'
import { openControlSocket } from './local/control-socket.ts'
import { openDataDirectory } from './local/data-directory.ts'
import type { DemoOptions } from './local/demo-daemon.ts'
import { type Bootstrap, createChosenDemo, openDemo, resumeChosenDemo } from './local/demo.ts'
import { prepareSetup } from './local/first-start.ts'
import type { ForkedDaemon } from '../dev/daemon/fork.ts'
import type { DiskObjectStore } from '../dev/object-store/disk-object-store.ts'
import { objectsPath, openLocalServices } from './local/services.ts'
import { compressAnswers } from './compress-answers.ts'
import { limitConnectTime } from './connect-timeout.ts'
import { writeLinesTogether } from './log-lines.ts'
import { scryptInThreads } from './hash-threads.ts'
import { onEachMinute } from './minute-timer.ts'
import { incomingBody, listenHttp, outgoingHeaders, socketAddress, whenSent } from './node-http.ts'
import { openPanel, type Services } from './open-panel.ts'
import { panelUrlOf } from './panel-url.ts'
import { migratePostgres } from './postgres.ts'
import { type SchemaGuard, createSchemaGuard } from './schema-guard.ts'
import { serve, type Surface } from './serve.ts'
import { shedLoad } from './shed-load.ts'
import { webAssets } from './web-assets.ts'

/** Milliseconds for requests and work in progress at a shutdown. Then requests are cut off, and jobs left to their leases. */
const shutdownGraceMs = 25_000

/** Milliseconds for closing what a failed start has opened. */
const failedStartCloseMs = 5_000

/** `close` shuts down within half a minute: it accepts no more requests and finishes requests and work in progress. */
export type RunningPanel = {
  url: string
  bootstrap: Bootstrap | null
  /** Not known, and so true, while the schema is older than this code. */
  hasAdministrator: boolean
  /** The code with which the first administrator is created; null where there are users. */
  setupCode: string | null
  close: () => Promise<void>
}

/** Answers requests of the command line to this process. */
export type RpcHandler = (panel: Panel, request: unknown) => Promise<unknown>

type Log = (line: string) => void
/** Functions that close what was opened, called in reverse order; `deadline` in milliseconds since 1970. */
type Closers = ((deadline: number) => unknown)[]

/**
 * Starts the whole panel in this process: every surface on one port, over the services that the environment names and
 * embedded ones for the rest. Throws an `EnvironmentError` that names every invalid variable.
 */
export async function startNode(
  raw: Record<string, unknown>,
  surfaces: Surface[],
  handleRpc: RpcHandler,
  log: Log = console.log,
): Promise<RunningPanel> {
  const env = readEnv(raw)
  setLogLevel(env.LOG_LEVEL)
  writeLinesTogether()
  await limitConnectTime()
  setScrypt(scryptInThreads())
  const closers: Closers = []
  const close = async () => {
    const deadline = Date.now() + shutdownGraceMs
    for (const closer of closers.splice(0).toReversed()) await closer(deadline)
  }
  try {
    return { ...(await openRunningPanel(env, surfaces, handleRpc, log, closers)), close }
  } catch (error) {
    // What failed may have left something that cannot be closed.
    await withTimeout(close(), failedStartCloseMs, null).catch(() => undefined)
    throw error
  }
}

async function openRunningPanel(
  env: Env,
  surfaces: Surface[],
  handleRpc: RpcHandler,
  log: Log,
  closers: Closers,
) {
  const directory = await openDataDirectory(env.DATA_DIR)
  closers.push(directory.release)
  const background = trackBackgroundWork()
  const servicesReady = Promise.withResolvers<Services>()
  // Requests before the services are open wait for them; a failure is thrown where they are opened.
  servicesReady.promise.catch(() => undefined)
  const schemaGuard = env.DATABASE_URL && env.DATABASE_DRIVER === 'neon' ? createSchemaGuard() : null
  const app = serveOnNode(env, surfaces, { services: servicesReady.promise, background, schemaGuard })
  let handleObjects: DiskObjectStore['handleRequest'] | null = null
  const listener = await listenHttp(env, (request, bindings) => {
    if (handleObjects && encodedPath(request.url).startsWith(`${objectsPath}/`)) return handleObjects(request)
    return app.fetch(request, bindings)
  })
  closers.push(() => servicesReady.reject(new Error('The panel has ended.')), listener.close)
  const url = panelUrlOf(env, listener.port)
  if (env.DATABASE_URL && !schemaGuard) await migratePostgres(env.DATABASE_URL)
  const { services, handleObjects: objectHandler } = await openLocalServices(env, {
    directory,
    url,
    deliver: (request) => background.run(async () => app.fetch(request)),
  })
  // Closed after work in progress is finished; the tick of the next process finds the jobs of waiting messages.
  closers.splice(1, 0, services.close, background.drain)
  handleObjects = objectHandler
  servicesReady.resolve(services)
  const panel = openSystemPanel(services, background)
  closers.push(tickEveryMinute(panel, background, schemaGuard))
  if (!env.DATABASE_URL) closers.push(await acceptRpcRequests(panel, directory.path, handleRpc))
  const mayWrite = !(await schemaGuard?.isBehind(panel.db))
  // Also one that starts later is closed after the listener, since requests in progress may need it.
  const daemonPlace = closers.length
  const onDaemon = (daemon: ForkedDaemon) => void closers.splice(daemonPlace, 0, daemon.close)
  const demo = { directory: directory.path, log, onDaemon }
  const bootstrap = mayWrite ? await (hasDemo(env) ? openDemo : resumeChosenDemo)(panel, demo) : null
  // Closed before everything else, since requests in progress may need all of it.
  closers.push(listener.close)
  const setupCode = mayWrite ? await prepareSetup(panel) : null
  if (setupCode !== null && offersDemo(env))
    Object.assign(services, { startDemo: () => startDemo(panel, demo) })
  return { url, bootstrap, hasAdministrator: mayWrite ? await hasAdministrator(panel) : true, setupCode }
}

/** Creates a demo that the set-up page was asked for, and returns the name of its administrator. */
async function startDemo(panel: Panel, options: DemoOptions): Promise<string | null> {
  const bootstrap = await createChosenDemo(panel, options)
  if (bootstrap) options.log(`The demo was started; its accounts are in ${options.directory}/bootstrap.json`)
  return bootstrap?.admin.username ?? null
}

/** Serves the surfaces on Node: with the socket's address, files from the disk, and work after the response. */
const serveOnNode = (
  env: Env,
  surfaces: Surface[],
  context: { services: Promise<Services>; background: BackgroundWork; schemaGuard: SchemaGuard | null },
) =>
  serve(
    {
      services: () => context.services,
      clientAddress: (c) => socketAddress(c, env.TRUSTED_PROXIES),
      bodyOfGet: incomingBody,
      headerWriter: outgoingHeaders,
      whenSent,
      waitUntil: (_c, work) => context.background.add(finishDeferred(work)),
      assets: webAssets,
      compress: compressAnswers,
      shedLoad: shedLoad(env.DATABASE_POOL_SIZE),
      schemaGuard: context.schemaGuard,
    },
    ...surfaces,
  )

/** Opens the panel for work without a request: the tick, the demo and requests of the command line. */
function openSystemPanel(services: Services, background: BackgroundWork): Panel {
  const requestContext = {
    ip: '127.0.0.1',
    requestId: 'process',
    defer: (work: Promise<unknown>) => background.add(finishDeferred([work])),
  }
  return { ...openPanel(services, requestContext), actor: { kind: 'system' } }
}

type BackgroundWork = {
  add: (work: Promise<unknown>) => void
  /** Starts work and adds it. */
  run: <T>(work: () => Promise<T>) => Promise<T>
  /** Waits until all work is finished, or until `deadline` in milliseconds since 1970. */
  drain: (deadline: number) => Promise<unknown>
}

/** Keeps track of work that no open request waits for. */
function trackBackgroundWork(): BackgroundWork {
  const pending = new Set<Promise<unknown>>()
  const add = (work: Promise<unknown>) => {
    pending.add(work)
    const untrack = () => pending.delete(work)
    work.then(untrack, untrack)
  }
  return {
    add,
    run: (work) => {
      const running = work()
      add(running)
      return running
    },
    drain: (deadline) => withTimeout(Promise.allSettled(pending), deadline - Date.now(), null),
  }
}

/** Runs the tick now and at every minute of the clock. Returns a function that stops it. */
function tickEveryMinute(
  panel: Panel,
  background: BackgroundWork,
  schemaGuard: SchemaGuard | null,
): () => void {
  const run = () => {
    const tickRun = tickIfSchemaCurrent(panel, runTick, schemaGuard).catch((error: unknown) =>
      writeLog('error', 'The tick failed.', { cause: causeOf(error) }),
    )
    background.add(tickRun)
  }
  run()
  return onEachMinute(run)
}

/**
 * Opens the socket through which the command line uses the embedded database of this process. Without it, the command
 * line works once this process has ended.
 */
async function acceptRpcRequests(
  panel: Panel,
  directory: string,
  handleRpc: RpcHandler,
): Promise<() => unknown> {
  try {
    return (await openControlSocket(directory, (request) => handleRpc(panel, request))).close
  } catch (error) {
    writeLog('warn', 'The command line cannot reach this process.', { cause: causeOf(error) })
    return () => undefined
  }
}
