import { imageSize } from 'image-size'
import { invalidField } from '../validation.ts'
import { stripJpeg, stripPng, stripWebp } from './image-metadata.ts'

/** A picture as it may be shown to everybody. */
export type PictureFile = { bytes: Uint8Array<ArrayBuffer>; extension: keyof typeof contentTypes }

/** Spec: Limits, avatar. */
const mostPixels = 4096

/** What pictures are served as, by the ending of their name. */
export const contentTypes = { jpg: 'image/jpeg', png: 'image/png', webp: 'image/webp' } as const

const strippers = { jpg: stripJpeg, png: stripPng, webp: stripWebp }

const refuse = (rule: string, detail: string) => invalidField('avatar', rule, `The avatar field ${detail}`)

/**
 * The picture that the bytes are, without metadata; what it was called when it was sent does not matter.
 * Refuses with 422 by the rules `mimes` what is no JPEG, PNG or WebP, `image` what is no whole one, and
 * `dimensions` sides out of 1 to 4096 pixels.
 */
export function readPicture(upload: Uint8Array): PictureFile {
  const extension = kindOf(upload)
  if (!extension) throw refuse('mimes', 'must be a picture of type jpg, png or webp.')
  const bytes = strippers[extension](upload)
  const size = bytes && sizeOf(bytes)
  if (!bytes || size?.type !== extension) throw refuse('image', 'must be a whole picture and nothing else.')
  if (![size.width, size.height].every((side) => side >= 1 && side <= mostPixels))
    throw refuse('dimensions', `must be a picture of 1 to ${mostPixels} pixels on each side.`)
  return { bytes, extension }
}

const latin1 = (bytes: Uint8Array, start: number, end: number) =>
  String.fromCharCode(...bytes.subarray(start, end))

function kindOf(bytes: Uint8Array): PictureFile['extension'] | null {
  if (latin1(bytes, 0, 8) === '\x89PNG\r\n\x1a\n') return 'png'
  if (latin1(bytes, 0, 3) === '\xff\xd8\xff') return 'jpg'
  return latin1(bytes, 0, 4) === 'RIFF' && latin1(bytes, 8, 12) === 'WEBP' ? 'webp' : null
}

function sizeOf(bytes: Uint8Array): ReturnType<typeof imageSize> | null {
  try {
    return imageSize(bytes)
  } catch {
    // It throws at headers that do not hold a size.
    return null
  }
}
