import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Mounts a file system in memory of this size, of which the root can be entered by all accounts; returns its folder. */
export function mountDisk(mebibytes: number): string {
  const path = mkdtempSync(join(tmpdir(), 'roost-disk-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m,mode=0711`, 'tmpfs', path], {
      stdio: 'pipe',
    })
  } catch (error) {
    rmdirSync(path)
    throw error
  }
  return path
}

/** Unmounts a file system in memory, and deletes its folder. */
export function unmountDisk(path: string): void {
  execFileSync('umount', [path])
  rmdirSync(path)
}

/** Whether this account may mount one. Says what is skipped where it may not. */
export function canMount(skipped: string): boolean {
  try {
    unmountDisk(mountDisk(1))
    return true
  } catch {
    console.log(`SKIPPED ${skipped}: this account cannot mount a file system in memory.`)
    return false
  }
}
