/** Milliseconds for opening a connection: a machine that is off must not hold a request longer. */
const connectTimeoutMs = 5_000

/** The global under which Node keeps the dispatcher of `fetch`. */
const dispatcherKey = Symbol.for('undici.globalDispatcher.1')

/**
 * Limits the time for opening a connection to five seconds, for every `fetch` of this process. Node's limit is ten
 * seconds; only the dispatcher has an option for it, and its class is only available from the current dispatcher.
 */
export async function limitConnectTime(): Promise<void> {
  // The first fetch creates the dispatcher.
  await fetch('data:,')
  const currentDispatcher = Reflect.get(globalThis, dispatcherKey) as { constructor: Dispatcher } | undefined
  if (currentDispatcher)
    Reflect.set(
      globalThis,
      dispatcherKey,
      new currentDispatcher.constructor({ connect: { timeout: connectTimeoutMs } }),
    )
}

type Dispatcher = new (options: { connect: { timeout: number } }) => object
