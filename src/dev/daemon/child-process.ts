import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { constants } from 'node:os'
import type { Readable, Writable } from 'node:stream'
import { createLineReader } from './console-output.ts'

export type LocalProcess = {
  readonly pid: number
  write: (text: string) => void
  /** Signals the whole process group. */
  signal: (signal: NodeJS.Signals) => void
  /** Resolves with the exit code once the process has ended and all its output was read. */
  readonly ended: Promise<number>
}

type ProcessOptions = {
  command: string
  args: string[]
  directory: string
  environment: Record<string, string>
  onLine: (line: string) => void
}

const outputGraceMs = 1_000
const running = new Set<number>()

/**
 * Starts a program in its own process group and reads its stdout and stderr as lines. Resolves once it runs and
 * rejects when it cannot be started. What is left of the group when the program ends is killed, as in a container.
 */
export async function startProcess(options: ProcessOptions): Promise<LocalProcess> {
  const child = spawn(options.command, options.args, {
    cwd: options.directory,
    env: options.environment,
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
  })
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve)
    child.once('error', reject)
  })
  const pid = child.pid ?? 0
  if (running.size === 0) process.once('exit', killAll)
  running.add(pid)
  readLines(child, options.onLine)
  child.stdin.on('error', () => {})
  return {
    pid,
    write: (text) => void child.stdin.write(text),
    signal: (signal) => signalGroup(pid, signal),
    ended: waitForEnd(child, pid),
  }
}

function readLines(
  child: ChildProcessByStdio<Writable, Readable, Readable>,
  onLine: (line: string) => void,
): void {
  for (const stream of [child.stdout, child.stderr]) {
    const reader = createLineReader(onLine)
    stream.setEncoding('utf8')
    stream.on('data', (chunk: string) => reader.write(chunk))
    stream.on('end', () => reader.end())
    stream.on('error', () => {})
  }
}

function waitForEnd(child: ChildProcessByStdio<Writable, Readable, Readable>, pid: number): Promise<number> {
  return new Promise((resolve) => {
    child.once('exit', () => {
      signalGroup(pid, 'SIGKILL')
      running.delete(pid)
      if (running.size === 0) process.off('exit', killAll)
      // A process that left the group may keep the pipes open.
      setTimeout(() => {
        child.stdout.destroy()
        child.stderr.destroy()
      }, outputGraceMs).unref()
    })
    child.once('close', (code, signal) => resolve(code ?? 128 + constants.signals[signal ?? 'SIGKILL']))
  })
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal)
  } catch {
    // The group is gone already.
  }
}

function killAll(): void {
  for (const pid of running) signalGroup(pid, 'SIGKILL')
}
