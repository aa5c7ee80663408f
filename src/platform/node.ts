import type { HttpBindings } from '@hono/node-server'
import { encodedPath } from '../http/ambiguous-paths.ts'
import { setScrypt } from '../domain/auth/password-hash.ts'
import { runTick } from '../domain/jobs/tick.ts'
import { hasAdministrator } from '../domain/users/administrators.ts'
import { causeOf, log as writeLog, setLogLevel } from '../log.ts'
import type { Panel } from '../panel.ts'
import { withTimeout } from '../with-timeout.ts'
import { type BackgroundWork, trackBackgroundWork } from './background-work.ts'
import { finishDeferred, tickIfSchemaCurrent } from './deferred-work.ts'
import { waitForDatabase } from './database-wait.ts'
import { hasDemo, offersDemo } from './demo-places.ts'
import { type Env, readEnv } from './env.ts'
import { openControlSocket } from './local/control-socket.ts'
import { type DataDirectory, openDataDirectory, shareDataDirectory } from './local/data-directory.ts'
import type { DemoOptions } from './local/demo-daemon.ts'
import { type Bootstrap, createChosenDemo, openDemo, resumeChosenDemo } from './local/demo.ts'
import { prepareSetup } from './local/first-start.ts'
import { giveBackMemory } from './local/give-back-memory.ts'
import { checkStoredState } from './local/stored-state.ts'
import type { ForkedDaemon } from '../dev/daemon/fork.ts'
import type { DiskObjectStore } from '../dev/object-store/disk-object-store.ts'
import { objectsPath, openLocalServices } from './local/services.ts'
import type { PoolState } from './client-pool.ts'
import { compareClocks } from './clock-check.ts'
import { compressAnswers } from './compress-answers.ts'
import { limitConnectTime } from './connect-timeout.ts'
import { writeLinesTogether } from './log-lines.ts'
import { scryptInThreads } from './hash-threads.ts'
import { claimMinute, minuteOf, onEachMinute } from './minute-timer.ts'
import type { OpenMoveInHost } from './move-in-host.ts'
import { incomingBody, listenHttp, outgoingHeaders, socketAddress, whenSent } from './node-http.ts'
import { openPanel, type Services } from './open-panel.ts'
import { joinInstances } from './panel-instances.ts'
import { panelUrlOf } from './panel-url.ts'
import { migratePostgres } from './postgres.ts'
import { type SchemaGuard, createSchemaGuard } from './schema-guard.ts'
import { serve, type Surface } from './serve.ts'
import { shedLoad } from './shed-load.ts'
import { type StartGate, startGate } from './start-gate.ts'
import type { Tracing } from './tracing/open-tracing.ts'
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
  /** With `drains`, callers of open connections first get time to go to another process. */
  close: (how?: EndOfPanel) => Promise<void>
}

/** `leaves`: whether the whole panel ends, and not one of its processes. */
export type EndOfPanel = { drains: boolean; leaves: boolean }

/** Which of the processes of a panel this one is: its only one, or one of several of which the first prepares the database. */
export type ProcessRole = 'only' | 'first' | 'further'

/** Answers requests of the command line to this process. */
export type RpcHandler = (panel: Panel, request: unknown) => Promise<unknown>

type Log = (line: string) => void
/** Functions that close what was opened, called in reverse order; `deadline` in milliseconds since 1970. */
type Closers = ((deadline: number, how: EndOfPanel) => unknown)[]

type StartOptions = {
  role?: ProcessRole
  log?: Log
  /** Is called when the panel has to start anew, since another disk is mounted in place of one that failed. */
  onRemounted?: () => void
  openMoveIn?: OpenMoveInHost | undefined
}

/**
 * Starts the whole panel in this process: every surface on one port, over the services that the environment names and
 * embedded ones for the rest. Throws an `EnvironmentError` that names every invalid variable.
 */
export async function startNode(
  raw: Record<string, unknown>,
  surfaces: Surface[],
  handleRpc: RpcHandler,
  { role = 'only', log = console.log, onRemounted, openMoveIn }: StartOptions = {},
): Promise<RunningPanel> {
  const env = readEnv(raw)
  setLogLevel(env.LOG_LEVEL, env.LOG_ADDRESSES)
  writeLinesTogether()
  await limitConnectTime()
  setScrypt(scryptInThreads())
  const closers: Closers = []
  const close = async (how: EndOfPanel = { drains: false, leaves: true }) => {
    const deadline = Date.now() + shutdownGraceMs
    for (const closer of closers.splice(0).toReversed()) await closer(deadline, how)
  }
  try {
    const start = {
      env,
      surfaces,
      handleRpc,
      log,
      role,
      onRemounted,
      openMoveIn,
      tracing: await openTraces(env),
    }
    return { ...(await openRunningPanel(start, closers)), close }
  } catch (error) {
    // What failed may have left something that cannot be closed.
    await withTimeout(close(), failedStartCloseMs, null).catch(() => undefined)
    throw error
  }
}

type Start = {
  env: Env
  surfaces: Surface[]
  handleRpc: RpcHandler
  log: Log
  role: ProcessRole
  onRemounted: (() => void) | undefined
  openMoveIn: OpenMoveInHost | undefined
  tracing: Tracing | null
}

async function openRunningPanel(start: Start, closers: Closers) {
  const { env, surfaces, handleRpc, log, role, tracing } = start
  // Of several processes, the one that started them holds the lock.
  const directory = await (role === 'only' ? openDataDirectory : shareDataDirectory)(env.DATA_DIR)
  closers.push(directory.release)
  const background = trackBackgroundWork()
  const gate = startGate()
  const schemaGuard = env.DATABASE_URL && env.DATABASE_DRIVER === 'neon' ? createSchemaGuard() : null
  const answer = serveOnNode(env, surfaces, { services: gate.services, background, schemaGuard, tracing })
  let handleObjects: DiskObjectStore['handleRequest'] | null = null
  const listener = await listenHttp(env, (request, bindings) => {
    if (handleObjects && encodedPath(request.url).startsWith(`${objectsPath}/`)) return handleObjects(request)
    return answer(request, bindings as HttpBindings)
  })
  closers.push(gate.end, listener.close)
  const url = panelUrlOf(env, listener.port)
  const databaseUrl = schemaGuard ? undefined : env.DATABASE_URL
  const whenBack = waitsForDatabase(databaseUrl ? env : null, gate)
  if (databaseUrl) await whenBack(() => migratePostgres(databaseUrl))
  const deliver = (request: Request) => background.run(() => answer(request))
  const places = { directory, url, deliver, onRemounted: start.onRemounted }
  const { services, pruneCache, poolState, ...opened } = await openLocalServices(env, places)
  // Closed after work in progress is finished; the tick of the next process finds the jobs of waiting messages.
  closers.splice(1, 0, tracing?.close ?? (() => undefined), services.close, background.drain)
  handleObjects = opened.handleObjects
  if (tracing) Object.assign(services, tracing.servicesOf(services))
  const panel = openSystemPanel(services, background)
  if (env.METRICS_TOKEN) await addMetrics(panel, services, poolState, closers)
  const mayWrite = !(await schemaGuard?.isBehind(panel.db))
  const joins = env.DATABASE_URL !== undefined && mayWrite
  // Before the first answer: with other keys it would be wrong.
  const beat = joins ? await whenBack(() => joinOthers(services, env, directory.path, closers)) : null
  if (!schemaGuard) await whenBack(() => checkDatabase(panel, env))
  const tidy = await addMoveIn(start, { panel, services, background, directory, mayWrite }, closers)
  gate.open(services)
  if (!env.DATABASE_URL) closers.push(await acceptRpcRequests(panel, directory.path, handleRpc))
  closers.push(tickEveryMinute(panel, background, { schemaGuard, beside: [pruneCache, beat, tidy], tracing }))
  // Also one that starts later is closed after the listener, since requests in progress may need it.
  const daemonPlace = closers.length
  const onDaemon = (daemon: ForkedDaemon) => void closers.splice(daemonPlace, 0, daemon.close)
  const demo = { directory: directory.path, log, onDaemon }
  const bootstrap =
    mayWrite && role === 'only' ? await (hasDemo(env) ? openDemo : resumeChosenDemo)(panel, demo) : null
  // Closed before everything else, since requests in progress may need all of it.
  closers.push(listener.close, (_deadline, { drains }) => drains && listener.drain())
  const setupCode = mayWrite && role !== 'further' ? await prepareSetup(panel) : null
  if (setupCode !== null && offersDemo(env)) offerDemo(panel, services, demo)
  if (!env.DATABASE_URL) giveBackMemory()
  return { url, bootstrap, hasAdministrator: mayWrite ? await hasAdministrator(panel) : true, setupCode }
}

/** Opens traces where the operator wants them; null where not, and then nothing of them is loaded. */
async function openTraces(env: Env): Promise<Tracing | null> {
  const receiver = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? env.OTEL_EXPORTER_OTLP_ENDPOINT
  if (env.OTEL_SDK_DISABLED || env.OTEL_TRACES_EXPORTER === 'none' || !receiver) return null
  return (await import('./tracing/open-tracing.ts')).openTracing(env)
}

/** Measures the process for `/metrics`; what does so is loaded only where it is scraped. */
async function addMetrics(
  panel: Panel,
  services: Services,
  poolState: () => PoolState | null,
  closers: Closers,
): Promise<void> {
  const { openNodeMetrics } = await import('./node-metrics.ts')
  const { read, close } = openNodeMetrics(panel, poolState)
  Object.assign(services, { readMetrics: read })
  // Called once nothing more is counted.
  closers.splice(1, 0, close)
}

/** Lets administrators move another panel in; returns what tidies up after them every minute. */
async function addMoveIn(
  { openMoveIn, role }: Start,
  opened: {
    panel: Panel
    services: Services
    background: BackgroundWork
    directory: DataDirectory
    mayWrite: boolean
  },
  closers: Closers,
): Promise<(() => Promise<unknown>) | null> {
  const { panel, services, background, directory, mayWrite } = opened
  if (!openMoveIn || !mayWrite) return null
  const options = { panel, dataDirectory: directory.path, addBackground: background.add }
  const { moveIn, tidy, close } = openMoveIn(options)
  // Before the first answer: what it finds unfinished is that of processes before.
  await tidy({ isStart: role !== 'further' })
  Object.assign(services, { moveIn })
  closers.push(close)
  return () => tidy({ isStart: false })
}

/** Returns what runs work over PostgreSQL again while that is away, and refuses requests meanwhile; null runs it once. */
const waitsForDatabase =
  (env: Env | null, gate: StartGate) =>
  <T>(work: () => Promise<T>): Promise<T> =>
    env ? waitForDatabase(env.DATABASE_WAIT_SECONDS, work, gate.refuse) : work()

/** Compares keys, version and clock with those of the database. */
async function checkDatabase(panel: Panel, env: Env): Promise<void> {
  await checkStoredState(panel, env)
  if (env.DATABASE_URL) await compareClocks(panel.db)
}

/** Enters the panel into the list of those over its database; returns what says every minute that it is there. */
async function joinOthers(
  services: Services,
  env: Env,
  directory: string,
  closers: Closers,
): Promise<() => Promise<unknown>> {
  const { beat, leave } = await joinInstances(services, env, directory)
  closers.push((_deadline, { leaves }) => leaves && leave().catch(() => undefined))
  return beat
}

/** Lets the set-up page ask for a demo. */
const offerDemo = (panel: Panel, services: Services, options: DemoOptions): void =>
  void Object.assign(services, { startDemo: () => startDemo(panel, options) })

/** Creates a demo that the set-up page was asked for, and returns the name of its administrator. */
async function startDemo(panel: Panel, options: DemoOptions): Promise<string | null> {
  const bootstrap = await createChosenDemo(panel, options)
  if (bootstrap) options.log(`The demo was started; its accounts are in ${options.directory}/bootstrap.json`)
  return bootstrap?.admin.username ?? null
}

/** Serves the surfaces on Node: within the load it can take, with the socket's address, files from the disk, and work after the response. */
function serveOnNode(
  env: Env,
  surfaces: Surface[],
  context: {
    services: () => Promise<Services>
    background: BackgroundWork
    schemaGuard: SchemaGuard | null
    tracing: Tracing | null
  },
) {
  const { admitRequests, refuse } = shedLoad(env.DATABASE_POOL_SIZE)
  const app = serve(
    {
      services: context.services,
      clientAddress: (c) => socketAddress(c, env.TRUSTED_PROXIES),
      bodyOfGet: incomingBody,
      headerWriter: outgoingHeaders,
      whenSent,
      waitUntil: (_c, work) => context.background.add(finishDeferred(work)),
      assets: webAssets,
      compress: compressAnswers,
      shedLoad: refuse,
      schemaGuard: context.schemaGuard,
      tracing: context.tracing,
    },
    ...surfaces,
  )
  return admitRequests(app.fetch)
}

/** Opens the panel for work without a request: the tick, the demo and requests of the command line. */
function openSystemPanel(services: Services, background: BackgroundWork): Panel {
  const requestContext = {
    ip: '127.0.0.1',
    requestId: 'process',
    defer: (work: Promise<unknown>) => background.add(finishDeferred([work])),
  }
  return { ...openPanel(services, requestContext), actor: { kind: 'system' } }
}

/** Runs the tick now and at every minute of the clock. Returns a function that stops it. */
function tickEveryMinute(
  panel: Panel,
  background: BackgroundWork,
  options: {
    schemaGuard: SchemaGuard | null
    beside: ((() => Promise<unknown>) | null)[]
    tracing: Tracing | null
  },
): () => void {
  const { schemaGuard, beside, tracing } = options
  const runOnce = () => tickIfSchemaCurrent(panel, runTick, schemaGuard)
  const tick = async (minute: number) => {
    if (await claimMinute(panel, minute)) await (tracing ? tracing.tick(runOnce) : runOnce())
  }
  const run = (minute: number) => {
    // The tick says what is wrong with the database.
    for (const each of beside) if (each) background.add(each().catch(() => undefined))
    const tickRun = tick(minute).catch((error: unknown) =>
      writeLog('error', 'The tick failed.', { cause: causeOf(error) }),
    )
    background.add(tickRun)
  }
  // Not the minute that begins in a moment: what is due with it would wait for the one after it.
  run(minuteOf(Date.now()))
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
