import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** Runs a program and returns what it printed, with `all` also as errors. A failure has its output in the message. */
export async function command(
  file: string,
  args: string[],
  options: { env?: Record<string, string>; all?: boolean } = {},
): Promise<string> {
  try {
    const { stdout, stderr } = await promisify(execFile)(file, args, {
      maxBuffer: 256 * 1024 * 1024,
      env: { ...process.env, ...options.env },
    })
    return options.all ? stdout + stderr : stdout
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
    const tail = `${stdout}\n${stderr}`.trim().slice(-4000)
    throw new Error(`${[file, ...args].join(' ')} failed:\n${tail}`, { cause: error })
  }
}
