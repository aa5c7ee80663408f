import type { ConsoleSocket, SocketEvent } from '../../console-socket.ts'
import { type ConsoleLog, plainText } from '../console-log.ts'
import { moreSpecific, type Problem, recogniseProblem } from './recognise.ts'

/** Wings writes it when the state of a server changes, also into the log that it repeats. */
const stateLine = /Server marked as (?<state>starting|running|stopping|offline)/
const outputs = new Set(['console output', 'daemon message', 'daemon error'])

/** Follows the problem that the output of a server tells of, until the server starts again. */
export class ProblemWatch {
  readonly #socket: ConsoleSocket
  readonly #log: ConsoleLog
  readonly #dismissed = new Set<string>()
  readonly #subscribers = new Set<() => void>()
  #problem: Problem | null = null
  #isRunning = false

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
    else if (event === 'status') this.#onState(text)
  }

  #onState(state: string): void {
    this.#isRunning = state === 'running'
    if (state === 'starting') {
      this.#dismissed.clear()
      this.#problem = null
    }
    // It has started all the same.
    if (this.#isRunning && this.#problem?.onlyBeforeRunning) this.#problem = null
  }

  #read(line: string): void {
    const state = stateLine.exec(line)?.groups?.state
    if (state) return this.#onState(state)
    const found = recogniseProblem(line)
    if (!found || this.#dismissed.has(found.name)) return
    if (found.onlyBeforeRunning && this.#isRunning) return
    // The problem itself stays when a line repeats it, so that nothing renders again.
    if (!isSame(this.#problem, found)) this.#problem = moreSpecific(this.#problem, found)
  }
}

const isSame = (shown: Problem | null, found: Problem): boolean =>
  shown?.name === found.name && shown.file === found.file && shown.java === found.java
