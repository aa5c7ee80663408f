import { scryptSync, type ScryptOptions } from 'node:crypto'
import { readlinkSync } from 'node:fs'
import { basename } from 'node:path'
import { constants, setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'

/** A hash to compute. */
export type HashRequest = { password: string; salt: Uint8Array; length: number; options: ScryptOptions }
export type HashAnswer = { hash: Uint8Array } | { error: string }

/** Lets everything else of the machine go first. Linux alone knows priorities of threads. */
function lowerPriority(): void {
  try {
    const thread = Number(basename(readlinkSync('/proc/thread-self')))
    setPriority(thread, constants.priority.PRIORITY_LOW)
  } catch {
    // Elsewhere hashes compete with requests, as they would without a thread of their own.
  }
}

function hash({ password, salt, length, options }: HashRequest): HashAnswer {
  try {
    return { hash: scryptSync(password, salt, length, options) }
  } catch (error) {
    return { error: (error as Error).message }
  }
}

lowerPriority()
parentPort?.on('message', (request: HashRequest) => parentPort?.postMessage(hash(request)))
