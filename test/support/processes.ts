import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'

export type RunningProcess = {
  child: ChildProcess
  output: () => string
  stop: () => Promise<void>
  /** Kills it with SIGKILL. */
  kill: () => Promise<void>
}

/** The default time in which a process must be ready, in milliseconds. */
const defaultTimeoutMs = 60_000

/** Starts a Node process of this project and waits until it prints `ready`. Rejects with its output when it exits before, or at the timeout. */
export async function startProcess(
  file: string,
  options: {
    args?: string[]
    env?: Record<string, string>
    cwd?: string
    ready: RegExp
    timeoutMs?: number
    /** Output that means that it will never be ready, though it does not exit. */
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
      if (options.failed?.test(output)) kill()
      if (!options.ready.test(output)) return
      clearTimeout(timer)
      resolve()
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    const kill = () => void child.kill('SIGKILL')
    const timer = setTimeout(kill, options.timeoutMs ?? defaultTimeoutMs)
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

/** Waits until `look` returns a value that is neither null nor false. Throws after `seconds`. */
export async function eventually<T>(
  check: () => Promise<T | null | false> | T | null | false,
  seconds = 20,
): Promise<T> {
  const deadline = Date.now() + seconds * 1000
  for (;;) {
    const seen = await check()
    if (seen !== null && seen !== false) return seen
    if (Date.now() > deadline) throw new Error('The condition was not met in time.')
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
