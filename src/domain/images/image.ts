import { invalidField } from '../validation.ts'

/** A picture without metadata, and its file extension. */
export type Image = { bytes: Uint8Array<ArrayBuffer>; extension: keyof typeof imageContentTypes }

/** Spec: docs/limits.md#sizes. */
const maxSidePixels = 4096

/** Content types by file extension. */
export const imageContentTypes = { jpg: 'image/jpeg', png: 'image/png', webp: 'image/webp' } as const

/**
 * Validates an image that was uploaded in this field and removes its metadata; its file name does not matter. Refuses with 422, by
 * rule: `mimes` unless it is a JPEG, PNG or WebP, `image` when it is damaged or has trailing data,
 * `dimensions` unless each side has 1 to 4096 pixels.
 */
export async function parseImage(field: string, upload: Uint8Array): Promise<Image> {
  const refuse = (rule: string, detail: string) =>
    invalidField(field, rule, `The ${field} field ${detail}`, { values: { max: maxSidePixels } })
  const extension = detectImageType(upload)
  if (!extension) throw refuse('mimes', 'must be a JPEG, PNG or WebP image.')
  const bytes = await withoutMetadata(extension, upload)
  const size = bytes && (await readImageSize(bytes))
  if (!bytes || size?.type !== extension)
    throw refuse('image', 'must be a complete image without trailing data.')
  if (![size.width, size.height].every((side) => side >= 1 && side <= maxSidePixels))
    throw refuse('dimensions', `must be an image of 1 to ${maxSidePixels} pixels on each side.`)
  return { bytes, extension }
}

async function withoutMetadata(extension: Image['extension'], upload: Uint8Array) {
  // Few requests upload a picture, and each function that can would load it with its start.
  const { stripJpeg, stripPng, stripWebp } = await import('./metadata.ts')
  return { jpg: stripJpeg, png: stripPng, webp: stripWebp }[extension](upload)
}

function detectImageType(bytes: Uint8Array): Image['extension'] | null {
  const begin = Buffer.from(bytes.subarray(0, 12)).toString('latin1')
  if (begin.startsWith('\x89PNG\r\n\x1a\n')) return 'png'
  if (begin.startsWith('\xff\xd8\xff')) return 'jpg'
  return begin.startsWith('RIFF') && begin.startsWith('WEBP', 8) ? 'webp' : null
}

async function readImageSize(bytes: Uint8Array) {
  const { imageSize } = await import('image-size')
  try {
    return imageSize(bytes)
  } catch {
    // The library throws on headers without a size.
    return null
  }
}
