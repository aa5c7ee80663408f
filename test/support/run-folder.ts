import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Makes a folder for what workers keep on disk, which are killed in the end; it goes with the run. */
export async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (process.env.ROOST_TEST_FOLDER) return undefined
  const folder = await mkdtemp(join(tmpdir(), 'roost-tests-'))
  process.env.ROOST_TEST_FOLDER = folder
  return () => rm(folder, { recursive: true, force: true })
}
