import { readdir, readFile } from 'node:fs/promises'
import { Client } from 'pg'

/** Milliseconds of processor time by the number of the process. */
type ProcessorTimes = Map<number, number>

/** Reads the processor time of the backends of one database; null where they run on another machine. */
export type BackendTimes = {
  read: () => Promise<ProcessorTimes>
  close: () => Promise<void>
}

/** Watches the backends of the database by `/proc`; null where it is not that of this machine. */
export async function watchBackends(url: string): Promise<BackendTimes | null> {
  const client = new Client(url)
  await client.connect()
  const pids = async () => {
    const { rows } = await client.query<{ pid: number }>(
      'select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    )
    return rows.map(({ pid }) => pid)
  }
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  const isLocal = await readFile(`/proc/${rows[0]?.pid}/cmdline`, 'utf8').then(
    (text) => text.startsWith('postgres'),
    () => false,
  )
  if (!isLocal) {
    await client.end()
    return null
  }
  return {
    read: async () => {
      const times = await Promise.all(
        (await pids()).map(async (pid) => [pid, await processorMs(pid)] as const),
      )
      return new Map(times)
    },
    close: () => client.end(),
  }
}

/** Sums what processes used between two readings; those that began in between count from their beginning. */
export function usedBetween(before: ProcessorTimes, after: ProcessorTimes): number {
  let sum = 0
  for (const [pid, milliseconds] of after) sum += milliseconds - (before.get(pid) ?? 0)
  return sum
}

/** Returns the processor time of a process with all its threads, in milliseconds; 0 once it has ended. */
export async function processorMs(pid: number): Promise<number> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => [])
  const times = await Promise.all(
    threads.map(async (thread) => {
      const text = await readFile(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').catch(() => '0')
      return Number(text.split(' ')[0]) / 1e6
    }),
  )
  return times.reduce((sum, each) => sum + each, 0)
}

/** Returns the resident memory of a process in bytes: now, and at most since its start. */
export async function residentBytes(pid: number): Promise<{ now: number; peak: number }> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  const field = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) * 1024
  return { now: field('VmRSS'), peak: field('VmHWM') }
}

/** Lists a process and those that it has started. */
export async function processTree(pid: number): Promise<number[]> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => [])
  const children = await Promise.all(
    threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/children`, 'utf8').catch(() => '')),
  )
  const pids = children.flatMap((text) => text.split(' ').filter(Boolean).map(Number))
  return [pid, ...(await Promise.all(pids.map(processTree))).flat()]
}
