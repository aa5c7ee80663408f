import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'

export type RunningProcess = {
  child: ChildProcess
  output: () => string
  stop: () => Promise<void>
  /** Ends it without a word: it does nothing more. */
  kill: () => Promise<void>
}

/** Milliseconds within which a process has to be ready, unless it is given longer. */
const usualPatience = 60_000

/** A Node process of this project, once it has printed `ready`. Fails with its output when it ends before, or never does. */
export async function startProcess(
  file: string,
  options: {
    args?: string[]
    env?: Record<string, string>
    cwd?: string
    ready: RegExp
    patience?: number
    /** What it prints when it will never be, though it does not end. */
    failed?: RegExp
  },
): Promise<RunningProcess> {
  const child = spawn(process.execPath, [file, ...(options.args ?? [])], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  })
  let output = ''
  await new Promise<void>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      output += chunk.toString()
      if (options.failed?.test(output)) giveUp()
      if (!options.ready.test(output)) return
      clearTimeout(timer)
      resolve()
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    const giveUp = () => void child.kill('SIGKILL')
    const timer = setTimeout(giveUp, options.patience ?? usualPatience)
    child.once('exit', () => {
      clearTimeout(timer)
      reject(new Error(`${file} ended before it was ready, or never was:\n${output}`))
    })
  })
  return {
    child,
    output: () => output,
    stop: () => end(child, 'SIGTERM'),
    kill: () => end(child, 'SIGKILL'),
  }
}

async function end(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill(signal)
  await ended
}

/** Waits until `look` gives something that is neither null nor false; fails with the last thing seen. */
export async function eventually<T>(
  look: () => Promise<T | null | false> | T | null | false,
  seconds = 20,
): Promise<T> {
  const deadline = Date.now() + seconds * 1000
  for (;;) {
    const seen = await look()
    if (seen !== null && seen !== false) return seen
    if (Date.now() > deadline) throw new Error('What was waited for did not happen.')
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
