import type { ConsoleSocket, SocketEvent } from '../console-socket.ts'

/** Lines that are kept, and that can be scrolled back to. */
export const mostLines = 5000
/** Lines of a daemon's log that can come again when the line is opened anew. */
const longestRepetition = 1000
/** Milliseconds: so long after the last line the repeated log is over, and so long at most it is waited for. */
const repetitionPause = 250
const repetitionTakes = 1000

/** Ways of the terminal: colours, movements, titles and links. */
// oxlint-disable-next-line no-control-regex
const sequences = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/g

/** The line as a reader sees it, without colours and other orders to a terminal. */
export const plainText = (line: string): string => line.replace(sequences, '').replace(/\r/g, '').trimEnd()

/** A line of the daemon itself: it is shown once, and is no part of the log that comes again. */
const isOfDaemon = (line: string) => /^\[[^\]]* Daemon\]:/.test(plainText(line))

type Line = { text: string; isLogged: boolean }
export type LogPart = { lines: string[]; next: number; clears: number }

/** What the console of one server said since its page was opened, without repetitions. */
export class ConsoleLog {
  #lines: Line[] = []
  /** Number of the first line that is still there, counted from the beginning. */
  #first = 0
  #clears = 0
  /** Lines after a reconnection, until it is known which of them are new. */
  #held: Line[] | null = null
  #heldSince = 0
  #timer: ReturnType<typeof setTimeout> | undefined
  readonly #watchers = new Set<() => void>()

  /** Hears the console until the returned function is called. */
  follow(socket: ConsoleSocket): () => void {
    const stop = socket.listen(this.#hear)
    return () => {
      stop()
      this.#release()
    }
  }

  readonly watch = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher)
    return () => this.#watchers.delete(watcher)
  }

  /** The lines from this number on, fewer when they are no longer kept, and how often all were taken away. */
  since(number: number): LogPart {
    const from = Math.max(number, this.#first)
    return {
      lines: this.#lines.slice(from - this.#first).map(({ text }) => text),
      next: this.#first + this.#lines.length,
      clears: this.#clears,
    }
  }

  /** All that is kept, as readers see it. */
  text(): string {
    return this.#lines.map(({ text }) => plainText(text)).join('\n')
  }

  /** Nothing is shown any more; what comes is. */
  clear(): void {
    this.#first += this.#lines.length
    this.#lines = []
    this.#clears += 1
    this.#tell()
  }

  readonly #hear = ({ event, args }: SocketEvent) => {
    const text = args[0] ?? ''
    if (event === 'reopened') this.#hold()
    else if (event === 'console output') this.#add({ text, isLogged: !isOfDaemon(text) })
    else if (event === 'install output' || event === 'transfer logs') this.#add({ text, isLogged: false })
    else if (event === 'daemon error' || event === 'daemon message')
      this.#add({ text: `\u001b[33m${text}\u001b[0m`, isLogged: false })
  }

  #hold(): void {
    this.#release()
    this.#held = []
    this.#heldSince = Date.now()
    this.#timer = setTimeout(this.#release, repetitionTakes)
  }

  #add(line: Line): void {
    if (!this.#held) return this.#append([line])
    this.#held.push(line)
    clearTimeout(this.#timer)
    const left = this.#heldSince + repetitionTakes - Date.now()
    this.#timer = setTimeout(this.#release, Math.max(0, Math.min(repetitionPause, left)))
  }

  /** Of the lines since the reconnection those are new that do not repeat the end of what is here. */
  readonly #release = () => {
    clearTimeout(this.#timer)
    const held = this.#held
    this.#held = null
    if (held) this.#append(withoutRepetition(this.#lines, held))
  }

  #append(lines: readonly Line[]): void {
    if (lines.length === 0) return
    this.#lines.push(...lines)
    // Dropped in large steps: moving thousands of lines for each new one takes time.
    if (this.#lines.length > 2 * mostLines) {
      this.#first += this.#lines.length - mostLines
      this.#lines = this.#lines.slice(-mostLines)
    }
    this.#tell()
  }

  #tell(): void {
    for (const watcher of this.#watchers) watcher()
  }
}

function withoutRepetition(here: readonly Line[], come: Line[]): Line[] {
  const known = here
    .filter(({ isLogged }) => isLogged)
    .slice(-longestRepetition)
    .map(({ text }) => plainText(text))
  const logged = come.filter(({ isLogged }) => isLogged).map(({ text }) => plainText(text))
  const repeated = overlap(known, logged)
  let seen = 0
  return come.filter(({ isLogged }) => {
    if (!isLogged) return true
    seen += 1
    return seen > repeated
  })
}

/** How many of the first lines of `come` are the last ones of `known`, in order; as many as can be. */
function overlap(known: readonly string[], come: readonly string[]): number {
  for (let length = Math.min(known.length, come.length); length > 0; length -= 1) {
    const from = known.length - length
    if (come.every((line, index) => index >= length || line === known[from + index])) return length
  }
  return 0
}
