import { access, mkdir, rmdir, writeFile } from 'node:fs/promises'

const periodUs = 20_000
const folders = ['/sys/fs/cgroup/cpu', '/sys/fs/cgroup']

/**
 * Gives each process a share of one processor (0.2 is a fifth) by a control group of its own; returns what removes the
 * groups once the processes have ended, and null where this machine allows no groups.
 */
export async function limitProcessors(pids: number[], share: number): Promise<(() => Promise<void>) | null> {
  const parent = await findParent()
  if (!parent) return null
  const groups: string[] = []
  for (const pid of pids) {
    const group = `${parent}/roost-bench-${pid}`
    await mkdir(group)
    groups.push(group)
    await writeQuota(group, Math.round(share * periodUs))
    await writeFile(`${group}/cgroup.procs`, String(pid))
  }
  return async () => {
    for (const group of groups) await removeGroup(group)
  }
}

/** A process that was killed leaves its group a moment later. */
async function removeGroup(group: string): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const removed = await rmdir(group).then(
      () => true,
      () => false,
    )
    if (removed) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`Processes are left in ${group}.`)
}

async function findParent(): Promise<string | null> {
  for (const folder of folders) {
    const probe = `${folder}/roost-bench-probe`
    try {
      await mkdir(probe)
      try {
        await writeQuota(probe, periodUs)
        return folder
      } finally {
        await rmdir(probe)
      }
    } catch {
      continue
    }
  }
  return null
}

/** Version 2 has one file, version 1 has two. */
async function writeQuota(group: string, quotaUs: number): Promise<void> {
  const isFirst = await access(`${group}/cpu.cfs_quota_us`).then(
    () => true,
    () => false,
  )
  if (!isFirst) return writeFile(`${group}/cpu.max`, `${quotaUs} ${periodUs}`)
  await writeFile(`${group}/cpu.cfs_period_us`, String(periodUs))
  await writeFile(`${group}/cpu.cfs_quota_us`, String(quotaUs))
}
