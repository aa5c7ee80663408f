import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../', import.meta.url))

export type Finished = { code: number | null; stdout: string; stderr: string }

export type CommandLine = {
  /** The data directory of every process that is started here. */
  directory: string
  /** Runs a file of `src/cli`, by its path there, to its end. */
  script: (file: string, words?: string[], input?: string) => Promise<Finished>
  /** Starts a verb, which the caller ends or awaits. */
  begin: (...words: string[]) => ChildProcessWithoutNullStreams
  /** Runs a verb to its end. */
  panel: (...words: string[]) => Promise<Finished>
  /** Runs a verb with `--json`; returns the printed document and the exit code. */
  json: (...words: string[]) => Promise<{ code: number | null; body: any }>
  /** Starts the panel itself; `url` is where it serves. */
  start: () => Promise<{ url: string; stop: () => Promise<number | null> }>
  remove: () => Promise<void>
}

/** Runs the programs as an operator does, in a data directory of their own and an otherwise empty environment. */
export async function openCommandLine(environment: Record<string, string> = {}): Promise<CommandLine> {
  const directory = await mkdtemp(join(tmpdir(), 'roost-cli-'))
  const { PATH = '', HOME = '' } = process.env
  const env = { PATH, HOME, DATA_DIR: directory, HOST: '127.0.0.1', PORT: '0', DEMO: 'false', ...environment }
  const launch = (file: string, words: string[]) =>
    spawn(process.execPath, [file, ...words], { cwd: root, env })
  const script: CommandLine['script'] = async (file, words = [], input = '') => {
    const child = launch(`src/cli/${file}`, words)
    child.stdin.end(input)
    const [[code], stdout, stderr] = await Promise.all([
      once(child, 'close'),
      text(child.stdout),
      text(child.stderr),
    ])
    return { code: code as number | null, stdout, stderr }
  }
  const panel: CommandLine['panel'] = (...words) => script('start.js', words)
  return {
    directory,
    script,
    begin: (...words) => launch('src/cli/start.js', words),
    panel,
    json: async (...words) => {
      const { code, stdout } = await panel(...words, '--json')
      return { code, body: JSON.parse(stdout) }
    },
    start: async () => {
      const child = launch('functions/all/start.js', [])
      child.stderr.pipe(process.stderr)
      for await (const line of createInterface({ input: child.stdout })) {
        const url = /serves at (\S+)/.exec(line)?.[1]
        if (url === undefined) continue
        return {
          url,
          stop: async () => {
            if (child.exitCode !== null) return child.exitCode
            const ended = once(child, 'exit')
            child.kill('SIGTERM')
            return (await ended)[0] as number | null
          },
        }
      }
      throw new Error('The panel ended before it served.')
    },
    remove: () => rm(directory, { recursive: true, force: true }),
  }
}
