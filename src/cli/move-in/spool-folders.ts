import { createHash } from 'node:crypto'
import { mkdtemp, readdir, readFile, readlink, rm } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'

const namePattern = /^move-in-([0-9a-f]{12})-(\d+)-(\d+)-/

/** Makes a private folder below `parent`, whose name tells the process that it belongs to. */
export async function makeSpoolFolder(parent: string): Promise<string> {
  const [machine, process] = await Promise.all([findMachine(), nameProcess()])
  return mkdtemp(join(parent, `move-in-${machine}-${process}-`))
}

/** Deletes the folders below `parent` whose process was ended under them. Those of other machines stay. */
export async function removeAbandonedFolders(parent: string): Promise<void> {
  const entries = await readdir(parent, { withFileTypes: true }).catch(() => [])
  for (const entry of entries)
    if (entry.isDirectory() && (await hasOwner(entry.name)) === false)
      // Folders of other users cannot be deleted, and are theirs to delete.
      await rm(join(parent, entry.name), { recursive: true, force: true }).catch(() => undefined)
}

/** Whether the process of a folder runs; null for other folders, and for those of other machines. */
export async function hasOwner(name: string): Promise<boolean | null> {
  const [, machine, pid, startedAt] = namePattern.exec(name) ?? []
  if (pid === undefined || machine !== (await findMachine())) return null
  return isRunning(Number(pid), startedAt ?? '')
}

/** Numbers of processes mean something within a machine and its namespace alone, as that of a container. */
async function findMachine(): Promise<string> {
  const namespace = await readlink('/proc/self/ns/pid').catch(() => '')
  return createHash('sha256').update(`${hostname()} ${namespace}`).digest('hex').slice(0, 12)
}

const nameProcess = async () => `${process.pid}-${(await readState(process.pid))?.startedAt ?? 0}`

/** A number is given again in time, so the start tells which process it is, where the system tells it. */
async function isRunning(pid: number, startedAt: string): Promise<boolean> {
  const state = await readState(pid)
  if (state) return state.startedAt === startedAt && !state.hasEnded
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

/** Reads when a process started, in ticks since the start of the machine; null where the system does not tell. */
async function readState(pid: number): Promise<{ startedAt: string; hasEnded: boolean } | null> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null)
  if (text === null) return null
  // The name of the program, in parentheses, can have spaces.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return { startedAt: fields[19] ?? '0', hasEnded: /[XZ]/.test(fields[0] ?? '') }
}
