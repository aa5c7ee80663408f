import { scrypt, type ScryptOptions } from 'node:crypto'
import { once } from 'node:events'
import { extname } from 'node:path'
import { promisify } from 'node:util'
import { Worker } from 'node:worker_threads'
import type { Scrypt } from '../domain/auth/password-hash.ts'
import type { HashAnswer, HashRequest } from './hash-thread.ts'

/** Beside this file, as a source or, in the bundle of the panel, as an entry of its own. */
const program = new URL(`./hash-thread${extname(import.meta.url)}`, import.meta.url)
/** Milliseconds after which a thread without work ends: each holds some MiB. */
const idleMs = 60_000
/** MiB; the memory of scrypt is not on the heap. */
const resourceLimits = { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2, stackSizeMb: 1 }

/** A thread without work, and the timer that ends it. */
type IdleThread = { thread: Worker; timer: NodeJS.Timeout }

/**
 * Runs scrypt in threads of the lowest priority, as many as callers have in progress, so that requests and the database
 * on the same machine go first. The threads of Node itself serve files and ciphers too; they hash where none can be
 * started.
 */
export function scryptInThreads(): Scrypt {
  const idle: IdleThread[] = []
  return async (password, salt, length, options) => {
    const thread = takeIdle(idle) ?? startThread(idle)
    thread.ref()
    thread.postMessage({ password, salt, length, options } satisfies HashRequest)
    let answer: HashAnswer
    try {
      // Rejects when the thread fails.
      ;[answer] = (await once(thread, 'message')) as [HashAnswer]
    } catch {
      return promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt)(password, salt, length, options)
    }
    keepIdle(thread, idle)
    if ('error' in answer) throw new Error(answer.error)
    return Buffer.from(answer.hash)
  }
}

function startThread(idle: IdleThread[]): Worker {
  const thread = new Worker(program, { execArgv: [], env: {}, resourceLimits })
  // Without a listener it would end the process.
  thread.on('error', () => undefined)
  thread.on('exit', () => forget(thread, idle))
  return thread
}

function takeIdle(idle: IdleThread[]): Worker | undefined {
  const last = idle.pop()
  clearTimeout(last?.timer)
  return last?.thread
}

function keepIdle(thread: Worker, idle: IdleThread[]): void {
  thread.unref()
  const end = () => {
    forget(thread, idle)
    void thread.terminate()
  }
  idle.push({ thread, timer: setTimeout(end, idleMs).unref() })
}

function forget(thread: Worker, idle: IdleThread[]): void {
  const at = idle.findIndex((each) => each.thread === thread)
  if (at !== -1) clearTimeout(idle.splice(at, 1)[0]?.timer)
}
