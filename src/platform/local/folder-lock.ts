import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { link, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { connect, createServer, type Server } from 'node:net'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

/** Milliseconds between two signs of life for other machines, and after which one is too old. */
const heartbeatMs = 30_000
const staleMs = 100_000
/** Milliseconds within which of two that take an old lock at once the later one has it. */
const settleMs = 150

/** The content of the file `lock`: `boot` names the kernel, `socket` the file at which its process listens. */
type Holder = { pid: number; host?: string; boot?: string | null; socket?: string | null }

/**
 * Locks a folder for this process, by a file `lock` and a socket that lives as long as the process: ids of processes
 * tell containers nothing about each other. Returns what unlocks it. Throws a message that names the holder.
 */
export async function lockFolder(path: string): Promise<() => Promise<void>> {
  const lock = join(path, 'lock')
  const draft = join(path, `lock-${randomBytes(6).toString('hex')}`)
  const server = await listen(`${draft}.sock`)
  const own = JSON.stringify({
    pid: process.pid,
    host: hostname(),
    boot: await bootId(),
    socket: server ? `${draft.slice(path.length + 1)}.sock` : null,
  } satisfies Holder)
  const withdraw = async () => {
    server?.close()
    await rm(`${draft}.sock`, { force: true })
  }
  try {
    await writeFile(draft, own, { mode: 0o600 })
    await takeLock(path, draft, own)
  } catch (error) {
    await withdraw()
    throw error
  } finally {
    await rm(draft, { force: true })
  }
  const timer = setInterval(
    () => void utimes(lock, new Date(), new Date()).catch(() => undefined),
    heartbeatMs,
  )
  timer.unref()
  return async () => {
    clearInterval(timer)
    try {
      if ((await readFile(lock, 'utf8').catch(() => '')) === own) await rm(lock, { force: true })
      await withdraw()
    } catch (error) {
      // The next start takes it from a process that has ended.
      if ((error as NodeJS.ErrnoException).code !== 'EROFS') throw error
    }
  }
}

/** Puts the draft in place of no lock, or of one whose process has ended. */
async function takeLock(path: string, draft: string, own: string): Promise<void> {
  const lock = join(path, 'lock')
  try {
    await link(draft, lock)
    return
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // Some file systems have no links.
    if (code !== 'EEXIST' && !['EPERM', 'ENOTSUP', 'ENOSYS', 'EMLINK'].includes(code ?? '')) throw error
  }
  const before = await readFile(lock, 'utf8').catch(() => '')
  const holder = readHolder(before)
  if (holder && (await isHeld(path, holder))) throw new Error(inUse(path, holder))
  await rename(draft, lock)
  await delay(settleMs)
  const after = await readFile(lock, 'utf8').catch(() => '')
  if (after !== own) throw new Error(inUse(path, readHolder(after) ?? { pid: 0 }))
  if (holder?.socket) await rm(join(path, holder.socket), { force: true })
}

/** Reads a lock; earlier versions wrote the id of the process alone. Null for a file without a holder. */
function readHolder(text: string): Holder | null {
  try {
    const found = JSON.parse(text) as Holder | number
    return typeof found === 'number' ? { pid: found } : found
  } catch {
    return null
  }
}

async function isHeld(path: string, holder: Holder): Promise<boolean> {
  const boot = await bootId()
  const isSameKernel = holder.boot !== undefined && boot !== null && holder.boot === boot
  if (isSameKernel && holder.socket) return answers(join(path, holder.socket))
  if (isSameKernel || holder.host === undefined || boot === null) return isAlive(holder.pid)
  // The same machine has been started anew since.
  if (holder.host === hostname()) return false
  const { mtimeMs } = await stat(join(path, 'lock'))
  return Math.abs(Date.now() - mtimeMs) < staleMs
}

function inUse(path: string, { pid, host }: Holder): string {
  const isElsewhere = host !== undefined && host !== hostname()
  const place = isElsewhere ? ` on ${host}` : ''
  const wait = isElsewhere ? ' If it has ended, start again in two minutes.' : ''
  return `${path} is in use by process ${pid}${place}. Stop it, or set DATA_DIR to another folder.${wait}`
}

const bootId = (): Promise<string | null> =>
  readFile('/proc/sys/kernel/random/boot_id', 'utf8').then(
    (text) => text.trim(),
    () => null,
  )

/** Listens at a path; null where the file system has no sockets, or the path is too long for one. */
async function listen(path: string): Promise<Server | null> {
  if (process.platform !== 'linux') return null
  const server = createServer((socket) => socket.destroy())
  try {
    await once(server.listen(path), 'listening')
  } catch {
    return null
  }
  // What cannot be accepted is no reason to end.
  server.on('error', () => undefined)
  return server.unref()
}

async function answers(path: string): Promise<boolean> {
  const socket = connect(path)
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0 || pid === process.pid) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
