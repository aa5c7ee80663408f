/** Milliseconds for opening a connection: a machine that is off must not hold a request longer. */
const connectTimeoutMs = 5_000

/** The global under which Node keeps the dispatcher of `fetch`. */
const dispatcherKey = Symbol.for('undici.globalDispatcher.1')

type ConnectOptions = { timeout: number; lookup?: unknown }
type Dispatcher = new (options: { connect: ConnectOptions }) => object

/**
 * Limits the time for opening a connection to five seconds, for every `fetch` of this process. Node's limit is ten
 * seconds; only the dispatcher has an option for it.
 */
export async function limitConnectTime(): Promise<void> {
  const dispatcher = await dispatcherClass()
  Reflect.set(globalThis, dispatcherKey, new dispatcher({ connect: { timeout: connectTimeoutMs } }))
}

/** Returns the class of the dispatchers of Node's `fetch`, which is only available from the current one. */
export async function dispatcherClass(): Promise<Dispatcher> {
  // The first fetch creates the dispatcher.
  if (!Reflect.has(globalThis, dispatcherKey)) await fetch('data:,')
  return (Reflect.get(globalThis, dispatcherKey) as { constructor: Dispatcher }).constructor
}
