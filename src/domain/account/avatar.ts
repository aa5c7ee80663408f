import { randomBytes } from 'node:crypto'
import { eq } from 'drizzle-orm'
import { only } from '../../db/database.ts'
import { users } from '../../db/schema.ts'
import type { User } from '../../db/tables/users.ts'
import { notFound, unavailable } from '../../errors.ts'
import { causeOf, log } from '../../log.ts'
import { inTransaction, type Panel } from '../../panel.ts'
import { type EventName, record } from '../activity.ts'
import { lockCallersAccount } from './caller.ts'
import { requireFeature } from './features.ts'
import { contentTypes, type PictureFile, readPicture } from './picture-file.ts'

/** Names of pictures below `avatars/`. */
const namePattern = /^[0-9a-f]{32}\.(jpg|png|webp)$/

function refuseWhileAway(cause: unknown): never {
  throw unavailable('The store of the pictures is away right now.', cause)
}

/**
 * The account has this picture, and the one before it is gone. Refuses with 403 while pictures are switched
 * off, with 422 what is no picture, with 503 while the store is away. Records `user:account.avatar-updated`.
 * Spec: Client API, account: avatar.
 */
export async function changeAvatar(panel: Panel, upload: Blob): Promise<User> {
  await requireFeature(panel, 'features.avatars')
  const picture = readPicture(new Uint8Array(await upload.arrayBuffer()))
  const key = `avatars/${randomBytes(16).toString('hex')}.${picture.extension}`
  try {
    await panel.objects.put(key, picture.bytes, contentTypes[picture.extension]).catch(refuseWhileAway)
    return await replaceAvatar(panel, key, 'user:account.avatar-updated')
  } catch (error) {
    discardAvatar(panel, key)
    throw error
  }
}

/**
 * The account has no picture of its own. Refuses with 403 while pictures are switched off. Records
 * `user:account.avatar-removed` when there was one. Spec: Client API, account: avatar.
 */
export async function removeAvatar(panel: Panel): Promise<User> {
  await requireFeature(panel, 'features.avatars')
  return replaceAvatar(panel, null, 'user:account.avatar-removed')
}

/** The object is removed after the answer, or a warning names it: nothing leads to it any more. */
export function discardAvatar(panel: Panel, key: string | null): void {
  if (key === null) return
  const removed = panel.objects.remove(key).catch((error: unknown) => {
    log('warn', 'A picture could not be removed.', { key, cause: causeOf(error) })
  })
  panel.defer(removed)
}

/** A picture by its name, with its type. Refuses with 404 when there is none, with 503 while the store is away. */
export async function readAvatar(
  panel: Panel,
  name: string,
): Promise<{ bytes: Uint8Array<ArrayBuffer>; contentType: string }> {
  const extension = namePattern.exec(name)?.[1] as PictureFile['extension'] | undefined
  if (extension === undefined) throw notFound()
  const stored = await panel.objects.get(`avatars/${name}`).catch(refuseWhileAway)
  if (!stored) throw notFound()
  return { bytes: stored.body, contentType: contentTypes[extension] }
}

async function replaceAvatar(panel: Panel, avatarKey: string | null, event: EventName): Promise<User> {
  const { before, after } = await inTransaction(panel, async (panel) => {
    const user = await lockCallersAccount(panel)
    if (user.avatarKey === avatarKey) return { before: null, after: user }
    const changed = await panel.db
      .update(users)
      .set({ avatarKey, updatedAt: panel.now() })
      .where(eq(users.id, user.id))
      .returning()
    await record(panel, event, { userId: user.id })
    return { before: user.avatarKey, after: only(changed) }
  })
  discardAvatar(panel, before)
  return after
}
