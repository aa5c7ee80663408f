import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A folder of a panel process, in which there is place for other folders. */
export type PanelFolder = { path: string; data: string; remove: () => Promise<void> }

/** Makes a folder that every user can enter: under root the demo keeps files of game servers beside its data directory. */
export async function makePanelFolder(): Promise<PanelFolder> {
  const path = await mkdtemp(join(tmpdir(), 'roost-panel-'))
  await chmod(path, 0o711)
  return {
    path,
    data: join(path, 'data'),
    remove: () => rm(path, { recursive: true, force: true }),
  }
}
