import { mkdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Notes the process group of a server's program, for a daemon that starts after this one was killed. */
export function noteProcess(dataDirectory: string, uuid: string, pid: number): void {
  const directory = join(dataDirectory, 'processes')
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, uuid), String(pid))
}

/** Takes back the note of a program that has ended. */
export function forgetProcess(dataDirectory: string, uuid: string): void {
  rmSync(join(dataDirectory, 'processes', uuid), { force: true })
}

/**
 * Kills the program that a killed daemon left running, so that it does not hold the server's port. Only a process
 * that works in the server's own folder is touched; where there is no /proc to tell, none is.
 */
export function endOrphan(dataDirectory: string, uuid: string): void {
  try {
    const pid = Number(readFileSync(join(dataDirectory, 'processes', uuid), 'utf8'))
    if (readlinkSync(`/proc/${pid}/cwd`) === join(dataDirectory, 'volumes', uuid))
      process.kill(-pid, 'SIGKILL')
  } catch {
    // There was no program, or it has ended.
  }
  forgetProcess(dataDirectory, uuid)
}
