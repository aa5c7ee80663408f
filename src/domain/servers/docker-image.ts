import { eq } from 'drizzle-orm'
import * as z from 'zod'
import { single } from '../../db/database.ts'
import { eggs, servers } from '../../db/schema.ts'
import { badRequest } from '../../errors.ts'
import { inTransaction, type Panel } from '../../panel.ts'
import { recordEvent } from '../activity/record.ts'
import { invalidField } from '../validation.ts'
import type { ServerAccess } from './access.ts'
import { dockerImageField } from './input.ts'
import { lockServer } from './lock.ts'

/** The Docker image to use. Spec: docs/servers.md#settings. */
export const DockerImageInput = () => z.object({ docker_image: dockerImageField() })

/**
 * Changes the Docker image from the next start on. Records `server:startup.image` when it differs. Refuses with
 * 400 while the server has an image that its egg does not list, which an administrator chose; with 422 an image
 * that is not listed. Spec: docs/servers.md#settings.
 */
export async function changeDockerImage(
  panel: Panel,
  { server: { id } }: Pick<ServerAccess, 'server'>,
  image: string,
): Promise<void> {
  await inTransaction(panel, async (tx) => {
    const server = await lockServer(tx, id)
    const { dockerImages } = single(
      await tx.db.select({ dockerImages: eggs.dockerImages }).from(eggs).where(eq(eggs.id, server.eggId)),
    )
    const images = Object.values(dockerImages)
    if (!images.includes(server.image)) {
      throw badRequest(
        'image_fixed',
        'An administrator has chosen the image of this server; it cannot be changed here.',
      )
    }
    if (!images.includes(image)) {
      throw invalidField('docker_image', 'in', 'The docker_image field is not an image of this server.', {
        reason: 'image_not_of_server',
      })
    }
    if (image === server.image) return
    await tx.db.update(servers).set({ image, updatedAt: tx.now() }).where(eq(servers.id, id))
    const properties = { old: server.image, new: image }
    await recordEvent(tx, 'server:startup.image', { serverId: id, properties })
  })
}
