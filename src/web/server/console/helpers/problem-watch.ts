import type { ConsoleSocket, SocketEvent } from '../../console-socket.ts'
import { type ConsoleLog, plainText } from '../console-log.ts'
import { moreSpecific, type Problem, recogniseProblem } from './recognise.ts'

/** Wings writes it when a server starts, also into the log that it repeats. */
const startLine = /Server marked as starting/
const outputs = new Set(['console output', 'daemon message', 'daemon error'])

/** Follows the problem that the output of a server tells of, until the server starts again. */
export class ProblemWatch {
  readonly #socket: ConsoleSocket
  readonly #log: ConsoleLog
  readonly #dismissed = new Set<string>()
  readonly #subscribers = new Set<() => void>()
  #problem: Problem | null = null

  constructor(socket: ConsoleSocket, log: ConsoleLog) {
    this.#socket = socket
    this.#log = log
  }

  /** Reads the lines that are there already, and those to come, for `useSyncExternalStore`. */
  readonly subscribe = (notify: () => void): (() => void) => {
    for (const { text } of this.#log.since(0).lines) this.#read(plainText(text))
    // What was read just now came after the page was rendered.
    if (this.#problem) notify()
    this.#subscribers.add(notify)
    const unsubscribe = this.#socket.onEvent((event) => {
      const before = this.#problem
      this.#onEvent(event)
      if (this.#problem !== before) notify()
    })
    return () => {
      this.#subscribers.delete(notify)
      unsubscribe()
    }
  }

  readonly problem = (): Problem | null => this.#problem

  /** Hides the problem until the server starts again. */
  dismiss(): void {
    if (this.#problem) this.#dismissed.add(this.#problem.name)
    this.#problem = null
    for (const notify of this.#subscribers) notify()
  }

  #onEvent({ event, args: [text = ''] }: SocketEvent): void {
    if (outputs.has(event)) this.#read(plainText(text))
    else if (event === 'status' && text === 'starting') this.#forget()
  }

  #forget(): void {
    this.#dismissed.clear()
    this.#problem = null
  }

  #read(line: string): void {
    if (startLine.test(line)) return this.#forget()
    const found = recogniseProblem(line)
    if (!found || this.#dismissed.has(found.name)) return
    // The problem itself stays when a line repeats it, so that nothing renders again.
    if (!isSame(this.#problem, found)) this.#problem = moreSpecific(this.#problem, found)
  }
}

const isSame = (shown: Problem | null, found: Problem): boolean =>
  shown?.name === found.name && shown.file === found.file && shown.java === found.java
