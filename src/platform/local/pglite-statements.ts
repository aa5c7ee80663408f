import type { PGlite } from '@electric-sql/pglite'

type Answer = Awaited<ReturnType<PGlite['execProtocolStream']>>

type Statement = {
  text: string
  name: string
  /** What the engine says about its parameters and rows. */
  description: Answer | null
}

/** Lists of any length make texts of any number; the engine keeps what it prepared. */
const maxStatements = 2000

const [parse, bind, describe, statement] = ['P', 'B', 'D', 'S'].map((letter) => letter.charCodeAt(0))

/**
 * Has the engine prepare each statement once, by its text: it would parse and plan it anew every time. PGlite sends
 * Parse, Describe, Bind, Describe, Execute and Sync without a name for every statement; here they get one, and what
 * the engine has answered about a statement before it is not asked again.
 */
export function nameStatements(engine: PGlite): void {
  const send = engine.execProtocolStream.bind(engine)
  const known = new Map<string, Statement>()
  const decoder = new TextDecoder()
  let serial = 0
  let current: Statement | null = null
  engine.execProtocolStream = async (message, options) => {
    if (message[0] === parse) {
      const text = decoder.decode(message.subarray(5))
      current = known.get(text) ?? null
      if (current) return []
      if (known.size >= maxStatements) return send(message, options)
      serial += 1
      current = { text, name: `s${serial}`, description: null }
      return send(withName(message, 5, current.name), options)
    }
    if (current === null) return send(message, options)
    if (message[0] === bind) return send(withName(message, 6, current.name), options)
    if (message[0] !== describe) return send(message, options)
    if (message[5] === statement && current.description === null) {
      current.description = await send(withName(message, 6, current.name), options)
      known.set(current.text, current)
    }
    return current.description ?? []
  }
}

/** The message with a name where it has an empty one. */
function withName(message: Uint8Array, at: number, name: string): Uint8Array {
  const named = Buffer.concat([message.subarray(0, at), Buffer.from(name), message.subarray(at)])
  named.writeInt32BE(named.length - 1, 1)
  return named
}
