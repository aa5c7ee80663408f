import type { Message } from './message.ts'

/** What befalls a message on its way. */
export type Fault = {
  /** It is never delivered. */
  drop?: boolean
  /** How often it is delivered, also after a success. */
  copies?: number
  /** Seconds by which it comes too late; different ones reorder messages. */
  delay?: number
}

/** Decides for each message when it is published. */
export type Faults = (message: Message) => Fault

export const noFaults: Faults = () => ({})

const dayInSeconds = 86_400

/** Shares of all messages, from 0 to 1. */
export type FaultShares = { duplicated?: number; reordered?: number; dropped?: number; dayLate?: number }

/** The same faults for the same seed, whatever the messages are. */
export function randomFaults(seed: number, shares: FaultShares): Faults {
  const random = randomNumbers(seed)
  return () => {
    const [duplicated, reordered, dropped, dayLate] = [random(), random(), random(), random()]
    const isDayLate = dayLate < (shares.dayLate ?? 0)
    const isReordered = reordered < (shares.reordered ?? 0)
    return {
      drop: dropped < (shares.dropped ?? 0),
      copies: duplicated < (shares.duplicated ?? 0) ? 2 : 1,
      delay: isDayLate ? dayInSeconds : isReordered ? 30 * random() : 0,
    }
  }
}

/** Numbers from 0 to 1 (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
