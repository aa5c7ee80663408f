import { randomBytes } from 'node:crypto'
import { eq } from 'drizzle-orm'
import { single } from '../../db/database.ts'
import { users } from '../../db/schema.ts'
import type { User } from '../../db/tables/users.ts'
import { type ApiError, notFound, unavailable } from '../../errors.ts'
import { inTransaction, type Panel } from '../../panel.ts'
import type { EventName } from '../activity/events.ts'
import { recordEvent } from '../activity/record.ts'
import { lockCaller } from '../auth/caller.ts'
import { requireFeature } from '../settings/features.ts'
import type { Image } from '../images/image.ts'
import { deferAvatarRemoval } from './avatar-removal.ts'

/** File names of pictures below `avatars/`. */
const avatarFileNamePattern = /^[0-9a-f]{32}\.(jpg|png|webp)$/

/** Loaded by those who upload or show a picture; the pages of the browser only remove them. */
const images = () => import('../images/image.ts')

const storeUnavailable = (cause: unknown): ApiError =>
  unavailable(
    'picture_store_unavailable',
    'The object store for profile pictures is not available. Try again later.',
    { cause },
  )

/**
 * Replaces the caller's profile picture. Refuses with 403 while pictures are switched off, with 422 an
 * invalid image, with 503 while the object store is not available. Records `user:account.avatar-updated`.
 * Spec: docs/accounts.md#profile-picture.
 */
export async function changeAvatar(panel: Panel, upload: Blob): Promise<User> {
  await requireFeature(panel, 'features.avatars')
  const { imageContentTypes, parseImage } = await images()
  const image = await parseImage('avatar', new Uint8Array(await upload.arrayBuffer()))
  const key = `avatars/${randomBytes(16).toString('hex')}.${image.extension}`
  try {
    await panel.objects.put(key, image.bytes, imageContentTypes[image.extension]).catch((error: unknown) => {
      throw storeUnavailable(error)
    })
    return await replaceAvatar(panel, key, 'user:account.avatar-updated')
  } catch (error) {
    deferAvatarRemoval(panel, key)
    throw error
  }
}

/**
 * Removes the caller's profile picture. Refuses with 403 while pictures are switched off. Records
 * `user:account.avatar-removed` when there was one. Spec: docs/accounts.md#profile-picture.
 */
export async function removeAvatar(panel: Panel): Promise<User> {
  await requireFeature(panel, 'features.avatars')
  return replaceAvatar(panel, null, 'user:account.avatar-removed')
}

/**
 * Reads a picture by its file name. Refuses with 404 an unknown one, with 503 while the object store is not
 * available.
 */
export async function readAvatar(
  panel: Panel,
  name: string,
): Promise<{ bytes: Uint8Array<ArrayBuffer>; contentType: string }> {
  const extension = avatarFileNamePattern.exec(name)?.[1] as Image['extension'] | undefined
  if (extension === undefined) throw notFound()
  const object = await panel.objects.get(`avatars/${name}`).catch((error: unknown) => {
    throw storeUnavailable(error)
  })
  if (!object) throw notFound()
  const { imageContentTypes } = await images()
  return { bytes: object.body, contentType: imageContentTypes[extension] }
}

async function replaceAvatar(panel: Panel, avatarKey: string | null, event: EventName): Promise<User> {
  const { before, after } = await inTransaction(panel, async (tx) => {
    const user = await lockCaller(tx)
    if (user.avatarKey === avatarKey) return { before: null, after: user }
    const changed = await tx.db
      .update(users)
      .set({ avatarKey, updatedAt: tx.now() })
      .where(eq(users.id, user.id))
      .returning()
    await recordEvent(tx, event, { userId: user.id })
    return { before: user.avatarKey, after: single(changed) }
  })
  deferAvatarRemoval(panel, before)
  return after
}
