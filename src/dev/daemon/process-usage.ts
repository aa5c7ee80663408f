import { readFile, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

const ticksPerSecond = 100
const pageSize = 4_096

export type ProcessUsage = { memory: number; cpuSeconds: number }

/** Reads the resident memory in bytes and the CPU time of a process; zeros on systems without /proc. */
export async function readProcessUsage(pid: number): Promise<ProcessUsage> {
  try {
    const line = await readFile(`/proc/${pid}/stat`, 'utf8')
    // The second field is the program's name in parentheses and may itself hold spaces and parentheses.
    const fields = line
      .slice(line.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number)
    const [userTicks = 0, systemTicks = 0, pages = 0] = [fields[11], fields[12], fields[21]]
    return { memory: pages * pageSize, cpuSeconds: (userTicks + systemTicks) / ticksPerSecond }
  } catch {
    return { memory: 0, cpuSeconds: 0 }
  }
}

/** Adds up the bytes of all regular files below a folder; 0 when it is missing. */
export async function readDirectorySize(directory: string): Promise<number> {
  const entries = await readdir(directory, { withFileTypes: true, recursive: true }).catch(() => [])
  let total = 0
  for (const entry of entries) {
    if (!entry.isFile()) continue
    const found = await stat(join(entry.parentPath, entry.name)).catch(() => undefined)
    total += found?.size ?? 0
  }
  return total
}
