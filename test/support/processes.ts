import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'

export type RunningProcess = {
  child: ChildProcess
  output: () => string
  stop: () => Promise<void>
  /** Ends it without a word: it does nothing more. */
  kill: () => Promise<void>
}

/** A Node process of this project, once it has printed `ready`. Fails with its output when it ends before. */
export async function startProcess(
  file: string,
  options: { args?: string[]; env?: Record<string, string>; ready: RegExp },
): Promise<RunningProcess> {
  const child = spawn(process.execPath, [file, ...(options.args ?? [])], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  await new Promise<void>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      output += chunk.toString()
      if (options.ready.test(output)) resolve()
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    child.once('exit', () => reject(new Error(`${file} ended before it was ready:\n${output}`)))
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
