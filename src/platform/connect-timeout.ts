/** Milliseconds for making a connection: a machine that is off must not hold a request any longer. */
const patience = 5_000

/** Under this name Node keeps what `fetch` connects with. */
const dispatcher = Symbol.for('undici.globalDispatcher.1')

/**
 * Every `fetch` of this process gives up connecting after five seconds. Node's own limit is ten, and it has no
 * setting for it but the one of the dispatcher, whose class only the one in place tells.
 */
export async function limitConnecting(): Promise<void> {
  // Loads what is loaded with the first fetch.
  await fetch('data:,')
  const inPlace = Reflect.get(globalThis, dispatcher) as { constructor: Dispatcher } | undefined
  if (inPlace)
    Reflect.set(globalThis, dispatcher, new inPlace.constructor({ connect: { timeout: patience } }))
}

type Dispatcher = new (options: { connect: { timeout: number } }) => object
