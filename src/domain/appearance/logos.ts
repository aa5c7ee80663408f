import { createHash } from 'node:crypto'
import { and, eq, lt, sql } from 'drizzle-orm'
import { logos, settings } from '../../db/schema.ts'
import { notFound } from '../../errors.ts'
import { inTransaction, type Panel } from '../../panel.ts'
import { recordEvent } from '../activity/record.ts'
import { imageContentTypes, parseImage } from '../images/image.ts'

/** Hours for which a logo that was uploaded waits to be chosen in the settings. */
const unusedHours = 24

/**
 * Stores a logo under the hash of its content, so that settings can name it, and removes those that were not chosen for a
 * day. Refuses with 422 an image that is no complete JPEG, PNG or WebP. Records `admin:settings.upload`. Spec:
 * docs/operations.md#appearance.
 */
export async function addLogo(panel: Panel, upload: Blob): Promise<string> {
  const image = await parseImage('logo', new Uint8Array(await upload.arrayBuffer()))
  const hash = createHash('sha256').update(image.bytes).digest('hex').slice(0, 32)
  const name = `${hash}.${image.extension}`
  const content = Buffer.from(image.bytes).toString('base64')
  return inTransaction(panel, async (tx) => {
    const createdAt = tx.now()
    await tx.db
      .insert(logos)
      .values({ name, content, createdAt })
      .onConflictDoUpdate({ target: logos.name, set: { createdAt } })
    const limit = new Date(createdAt.getTime() - unusedHours * 3_600_000)
    const isUsed = sql`exists (select 1 from ${settings} where ${settings.value} = to_jsonb(${logos.name}))`
    await tx.db.delete(logos).where(and(lt(logos.createdAt, limit), sql`not ${isUsed}`))
    await recordEvent(tx, 'admin:settings.upload', { properties: { logo: name } })
    return name
  })
}

/** Reads a logo by its name. Refuses with 404. One statement. */
export async function readLogo(
  panel: Panel,
  name: string,
): Promise<{ bytes: Uint8Array<ArrayBuffer>; contentType: string }> {
  const [row] = await panel.db.select({ content: logos.content }).from(logos).where(eq(logos.name, name))
  if (!row) throw notFound()
  const extension = name.slice(name.lastIndexOf('.') + 1) as keyof typeof imageContentTypes
  return {
    bytes: new Uint8Array(Buffer.from(row.content, 'base64')),
    contentType: imageContentTypes[extension],
  }
}
