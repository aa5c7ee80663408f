import type { ConsoleSocket, SocketEvent } from '../console-socket.ts'
import { type Level, levelOf } from './line-level.ts'

/** How many lines are kept for scrolling back. */
export const maxLines = 5000
/** How many lines a daemon replays at most after a reconnection. */
const maxReplayedLines = 1000
/** A replay ends after this pause, and at the latest after `replayTimeoutMs`. */
const replayIdleMs = 250
const replayTimeoutMs = 1000

/** ANSI escape sequences: colours, cursor movements, titles and links. */
// oxlint-disable-next-line no-control-regex
const escapeSequences = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/g

/** Returns a line without escape sequences. */
export const plainText = (line: string): string =>
  line.replace(escapeSequences, '').replace(/\r/g, '').trimEnd()

/** Whether a line comes from the daemon itself. Such lines are sent once, and are not part of the replayed log. */
const isDaemonLine = (line: string) => /^\[[^\]]* Daemon\]:/.test(plainText(line))

type NewLine = { text: string; isLogged: boolean }
export type Line = NewLine & { level: Level }
export type LogSlice = { lines: Line[]; next: number; clears: number }
/** How many of the kept lines have each level. */
export type LevelCounts = Readonly<Record<Level, number>>

/** The console output of a server since its page was opened, without the lines that daemons replay. */
export class ConsoleLog {
  #lines: Line[] = []
  /** Number of the oldest line that is kept, counted from the first one. */
  #first = 0
  #clears = 0
  #counts: Record<Level, number> = { info: 0, warn: 0, error: 0 }
  /** Lines since a reconnection, until it is known which of them are new. */
  #replay: NewLine[] | null = null
  #replayStartedAt = 0
  #timer: ReturnType<typeof setTimeout> | undefined
  readonly #subscribers = new Set<() => void>()

  /** Collects the output of a socket until the returned function is called. */
  follow(socket: ConsoleSocket): () => void {
    const unsubscribe = socket.onEvent(this.#onEvent)
    return () => {
      unsubscribe()
      this.#endReplay()
    }
  }

  readonly subscribe = (subscriber: () => void): (() => void) => {
    this.#subscribers.add(subscriber)
    return () => this.#subscribers.delete(subscriber)
  }

  /**
   * Returns the lines from a number on, as far as they are kept and have one of the levels, and how often the log was
   * cleared.
   */
  since(number: number, levels: ReadonlySet<Level> | null = null): LogSlice {
    const from = Math.max(number, this.#first)
    const lines = this.#lines.slice(from - this.#first)
    return {
      lines: levels ? lines.filter(({ level }) => levels.has(level)) : lines,
      next: this.#first + this.#lines.length,
      clears: this.#clears,
    }
  }

  counts(): LevelCounts {
    return { ...this.#counts }
  }

  /** Returns the whole log as plain text. */
  text(): string {
    return this.#lines.map(({ text }) => plainText(text)).join('\n')
  }

  /** Clears the log. */
  clear(): void {
    this.#first += this.#lines.length
    this.#lines = []
    this.#counts = { info: 0, warn: 0, error: 0 }
    this.#clears += 1
    this.#notify()
  }

  readonly #onEvent = ({ event, args }: SocketEvent) => {
    const text = args[0] ?? ''
    if (event === 'reopened') this.#startReplay()
    else if (event === 'console output') this.#add({ text, isLogged: !isDaemonLine(text) })
    else if (event === 'install output' || event === 'transfer logs') this.#add({ text, isLogged: false })
    else if (event === 'daemon error' || event === 'daemon message')
      this.#add({ text: `\u001b[33m${text}\u001b[0m`, isLogged: false })
  }

  #startReplay(): void {
    this.#endReplay()
    this.#replay = []
    this.#replayStartedAt = Date.now()
    this.#timer = setTimeout(this.#endReplay, replayTimeoutMs)
  }

  #add(line: NewLine): void {
    if (!this.#replay) return this.#append([line])
    this.#replay.push(line)
    clearTimeout(this.#timer)
    const timeLeft = this.#replayStartedAt + replayTimeoutMs - Date.now()
    this.#timer = setTimeout(this.#endReplay, Math.max(0, Math.min(replayIdleMs, timeLeft)))
  }

  /** Appends the lines since the reconnection that do not repeat the end of the log. */
  readonly #endReplay = () => {
    clearTimeout(this.#timer)
    const replay = this.#replay
    this.#replay = null
    if (replay) this.#append(withoutReplayed(this.#lines, replay))
  }

  #append(lines: readonly NewLine[]): void {
    if (lines.length === 0) return
    let before = this.#lines.at(-1)?.level ?? 'info'
    for (const line of lines) {
      before = levelOf(plainText(line.text), before)
      this.#lines.push({ ...line, level: before })
      this.#counts[before] += 1
    }
    // Lines are dropped in large batches: moving thousands of them for each new one is slow.
    if (this.#lines.length > 2 * maxLines) this.#drop(this.#lines.length - maxLines)
    this.#notify()
  }

  #drop(count: number): void {
    for (const { level } of this.#lines.slice(0, count)) this.#counts[level] -= 1
    this.#lines = this.#lines.slice(count)
    this.#first += count
  }

  #notify(): void {
    for (const subscriber of this.#subscribers) subscriber()
  }
}

function withoutReplayed(existing: readonly NewLine[], received: NewLine[]): NewLine[] {
  const known = existing
    .filter(({ isLogged }) => isLogged)
    .slice(-maxReplayedLines)
    .map(({ text }) => plainText(text))
  const receivedTexts = received.filter(({ isLogged }) => isLogged).map(({ text }) => plainText(text))
  const overlapLength = overlap(known, receivedTexts)
  let seen = 0
  return received.filter(({ isLogged }) => {
    if (!isLogged) return true
    seen += 1
    return seen > overlapLength
  })
}

/** Returns the length of the longest prefix of `received` that is a suffix of `known`. */
function overlap(known: readonly string[], received: readonly string[]): number {
  for (let length = Math.min(known.length, received.length); length > 0; length -= 1) {
    const from = known.length - length
    if (received.every((line, index) => index >= length || line === known[from + index])) return length
  }
  return 0
}
