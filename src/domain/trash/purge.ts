import type { Panel } from '../../panel.ts'
import { refuseFileFailure } from '../files/daemon-failures.ts'
import { filesOf, type Target } from '../files/listing.ts'
import { removeFolders } from './folders.ts'
import { forgetItems, holdItem, releaseItems } from './hold.ts'

/**
 * An item is gone for good; records `server:file.trash.delete`. Refuses with 404 what is not in the trash, with
 * 409 what is being moved or restored, and as `refuseFileFailure` does: then it stays in the list. One that
 * is not on the node is fine. Spec: Client API, file trash. Wings: POST …/files/delete
 */
export async function purgeFromTrash(panel: Panel, target: Target, id: string): Promise<void> {
  const item = await holdItem(panel, target.server.id, id)
  await removeFolders(filesOf(panel, target), [item.id]).catch(async (error: unknown) => {
    await releaseItems(panel, [item])
    return refuseFileFailure(error)
  })
  await forgetItems(panel, [item], 'server:file.trash.delete')
}
