import { eq } from 'drizzle-orm'
import * as z from 'zod'
import { only } from '../../db/database.ts'
import { eggs, servers } from '../../db/schema.ts'
import { badRequest } from '../../errors.ts'
import { inTransaction, type Panel } from '../../panel.ts'
import { record } from '../activity.ts'
import type { ReachedServer } from '../credentials.ts'
import { invalidField } from '../validation.ts'
import { dockerImage } from './input.ts'
import { lockServer } from './lock.ts'

/** Spec: Client API, settings. */
export const ImageInput = () => z.object({ docker_image: dockerImage() })

/**
 * The server runs in this image from its next start on. Records `server:startup.image` when it is another one
 * than before. Refuses with 400 while an administrator has given it an image which its egg does not have, with
 * 422 such an image. Spec: Client API, settings.
 */
export async function changeImage(
  panel: Panel,
  { server: { id } }: Pick<ReachedServer, 'server'>,
  image: string,
): Promise<void> {
  await inTransaction(panel, async (panel) => {
    const server = await lockServer(panel, id)
    const { dockerImages } = only(
      await panel.db.select({ dockerImages: eggs.dockerImages }).from(eggs).where(eq(eggs.id, server.eggId)),
    )
    const images = Object.values(dockerImages)
    if (!images.includes(server.image)) {
      throw badRequest('An administrator has chosen the image of this server; it cannot be changed here.')
    }
    if (!images.includes(image)) {
      throw invalidField('docker_image', 'in', 'The docker_image field is not an image of this server.')
    }
    if (image === server.image) return
    await panel.db.update(servers).set({ image, updatedAt: panel.now() }).where(eq(servers.id, id))
    const properties = { old: server.image, new: image }
    await record(panel, 'server:startup.image', { serverId: id, properties })
  })
}
