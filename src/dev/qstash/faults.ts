import type { Message } from './message.ts'

/** How the delivery of one message goes wrong. */
export type Fault = {
  /** Whether the message is never delivered. */
  drop?: boolean
  /** How often it is delivered, also after a success. */
  copies?: number
  /** Seconds by which it is late; different delays reorder messages. */
  delay?: number
}

/** Chooses the fault of a message when it is published. */
export type Faults = (message: Message) => Fault

/** Delivers every message once and in time. */
export const noFaults: Faults = () => ({})

const daySeconds = 86_400

/** Shares of all messages, from 0 to 1. */
export type FaultShares = { duplicated?: number; reordered?: number; dropped?: number; dayLate?: number }

/** Chooses faults at random, the same ones for the same seed whatever the messages are. */
export function randomFaults(seed: number, shares: FaultShares): Faults {
  const random = createRandom(seed)
  return () => {
    const [duplicated, reordered, dropped, dayLate] = [random(), random(), random(), random()]
    const isDayLate = dayLate < (shares.dayLate ?? 0)
    const isReordered = reordered < (shares.reordered ?? 0)
    return {
      drop: dropped < (shares.dropped ?? 0),
      copies: duplicated < (shares.duplicated ?? 0) ? 2 : 1,
      delay: isDayLate ? daySeconds : isReordered ? 30 * random() : 0,
    }
  }
}

/** Creates a generator of numbers from 0 to 1 (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
