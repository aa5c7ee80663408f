import { mkdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Records the process group of a server, for a daemon that starts after this one was killed. */
export function recordProcess(dataDirectory: string, uuid: string, pid: number): void {
  const directory = join(dataDirectory, 'processes')
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, uuid), String(pid))
}

/** Removes the record of a process that has ended. */
export function removeProcessRecord(dataDirectory: string, uuid: string): void {
  rmSync(join(dataDirectory, 'processes', uuid), { force: true })
}

/**
 * Kills the process that a killed daemon left running, so that it does not hold the server's port. Only a process
 * with the server's folder as its working directory is killed, and none on systems without /proc.
 */
export function killOrphan(dataDirectory: string, uuid: string): void {
  try {
    const pid = Number(readFileSync(join(dataDirectory, 'processes', uuid), 'utf8'))
    if (readlinkSync(`/proc/${pid}/cwd`) === join(dataDirectory, 'volumes', uuid))
      process.kill(-pid, 'SIGKILL')
  } catch {
    // There was no process, or it has ended.
  }
  removeProcessRecord(dataDirectory, uuid)
}
