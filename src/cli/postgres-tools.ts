import { execFile, spawn } from 'node:child_process'
import { globSync } from 'node:fs'
import { once } from 'node:events'
import { delimiter, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { OperationError } from './faults.ts'

export type PostgresTool = 'pg_dump' | 'pg_restore'

/**
 * Finds the newest `pg_dump` or `pg_restore` of this machine. Throws, with what to install, where there is none or when
 * it is older than the server, whose major version is given.
 */
export async function findPostgresTool(tool: PostgresTool, serverMajor: number): Promise<string> {
  const folders = (process.env.PATH ?? '').split(delimiter).filter(Boolean)
  const candidates = [
    ...folders.map((folder) => join(folder, tool)),
    ...globSync(`/usr/{lib/postgresql,pgsql-*}/{*/bin,bin}/${tool}`),
  ]
  let best: { path: string; major: number } | null = null
  for (const path of candidates) {
    const major = await majorOf(path)
    if (major !== null && major > (best?.major ?? 0)) best = { path, major }
  }
  if (best && best.major >= serverMajor) return best.path
  const found = best ? `${tool} is of PostgreSQL ${best.major}` : `${tool} is not installed`
  throw new OperationError(
    `${found}, and the server is PostgreSQL ${serverMajor}. Install its client programs, on Debian: apt-get install postgresql-client-${serverMajor}`,
  )
}

async function majorOf(path: string): Promise<number | null> {
  try {
    const { stdout } = await promisify(execFile)(path, ['--version'], { timeout: 10_000 })
    return Number(/\) (\d+)/.exec(stdout)?.[1] ?? 0)
  } catch {
    return null
  }
}

/** Runs a program on the database of the URL. Its password is not among the arguments. Throws with what it printed. */
export async function runPostgresTool(path: string, url: string, args: string[]): Promise<void> {
  const address = new URL(url)
  const password = decodeURIComponent(address.password)
  address.password = ''
  address.searchParams.delete('uselibpqcompat')
  const env = { ...process.env, ...(password === '' ? {} : { PGPASSWORD: password }) }
  const child = spawn(path, [...args, `--dbname=${address.href}`], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const [[code], printed] = await Promise.all([once(child, 'close'), text(child.stderr)])
  if (code !== 0) throw new OperationError(`${path} failed: ${printed.trim() || `exit code ${code}`}`)
}
