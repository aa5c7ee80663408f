import { crc32, deflateSync } from 'node:zlib'

const text = (content: string) => Buffer.from(content, 'latin1')

/** Builds a chunk of a PNG. */
export function pngChunk(type: string, content: Uint8Array = new Uint8Array()): Buffer {
  const named = Buffer.concat([text(type), content])
  const chunk = Buffer.alloc(named.length + 8)
  chunk.writeUInt32BE(content.length)
  named.copy(chunk, 4)
  chunk.writeUInt32BE(crc32(named), named.length + 4)
  return chunk
}

export const pngSignature = text('\x89PNG\r\n\x1a\n')

/** Builds a grey PNG; `chunks` are between its header and its data. */
export function png(width: number, height: number, chunks: Buffer[] = []): Buffer {
  const header = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0])
  header.writeUInt32BE(width)
  header.writeUInt32BE(height, 4)
  const rows = Buffer.alloc(Math.min((width + 1) * height, 100_000), 0)
  return Buffer.concat([
    pngSignature,
    pngChunk('IHDR', header),
    ...chunks,
    pngChunk('IDAT', deflateSync(rows)),
    pngChunk('IEND'),
  ])
}

/** Builds a segment of a JPEG with its marker. */
export function jpegSegment(marker: number, content: Uint8Array | string): Buffer {
  const bytes = typeof content === 'string' ? text(content) : Buffer.from(content)
  const head = Buffer.from([0xff, marker, 0, 0])
  head.writeUInt16BE(bytes.length + 2, 2)
  return Buffer.concat([head, bytes])
}

export const jpegStart = Buffer.from([0xff, 0xd8])
export const jpegEnd = Buffer.from([0xff, 0xd9])

/** Builds what a decoder needs before the first scan: tables, and the frame with its size. */
export function jpegFrame(width: number, height: number): Buffer {
  const frame = Buffer.from([8, 0, 0, 0, 0, 1, 1, 0x11, 0])
  frame.writeUInt16BE(height, 1)
  frame.writeUInt16BE(width, 3)
  const quantisation = Buffer.concat([Buffer.from([0]), Buffer.alloc(64, 1)])
  const huffman = Buffer.concat([Buffer.from([0, 1]), Buffer.alloc(16)])
  return Buffer.concat([
    jpegSegment(0xdb, quantisation),
    jpegSegment(0xc0, frame),
    jpegSegment(0xc4, huffman),
  ])
}

/** A scan whose data holds an escaped FF and a restart. */
export const jpegScan = Buffer.concat([
  jpegSegment(0xda, Buffer.from([1, 1, 0, 0, 63, 0])),
  Buffer.from([0x12, 0xff, 0x00, 0x34, 0xff, 0xd0, 0x56]),
])

/** Builds a JPEG; `segments` follow its start marker. */
export const jpeg = (width: number, height: number, segments: Buffer[] = []): Buffer =>
  Buffer.concat([jpegStart, ...segments, jpegFrame(width, height), jpegScan, jpegEnd])

/** Builds EXIF with an orientation and a location. */
export function exifSegment(orientation: number, isLittle = false): Buffer {
  const tiff = Buffer.alloc(8 + 2 + 24 + 4)
  const write16 = (value: number, at: number) =>
    isLittle ? tiff.writeUInt16LE(value, at) : tiff.writeUInt16BE(value, at)
  const write32 = (value: number, at: number) =>
    isLittle ? tiff.writeUInt32LE(value, at) : tiff.writeUInt32BE(value, at)
  tiff.write(isLittle ? 'II' : 'MM', 'latin1')
  write16(42, 2)
  write32(8, 4)
  write16(2, 8)
  for (const [index, tag] of [0x0100, 0x0112].entries()) {
    const at = 10 + 12 * index
    write16(tag, at)
    write16(3, at + 2)
    write32(1, at + 4)
    write16(tag === 0x0112 ? orientation : 7, at + 8)
  }
  return jpegSegment(0xe1, Buffer.concat([text('Exif\0\0'), tiff, text('52.5163 N 13.3777 E')]))
}

/** Builds a chunk of a WebP, padded to an even length. */
export function riffChunk(type: string, content: Uint8Array): Buffer {
  const chunk = Buffer.alloc(8 + content.length + (content.length % 2))
  chunk.write(type, 'latin1')
  chunk.writeUInt32LE(content.length, 4)
  chunk.set(content, 8)
  return chunk
}

/** Builds a WebP of these chunks. */
export function webp(...chunks: Buffer[]): Buffer {
  const head = Buffer.from('RIFF\0\0\0\0WEBP', 'latin1')
  const whole = Buffer.concat([head, ...chunks])
  whole.writeUInt32LE(whole.length - 8, 4)
  return whole
}

/** Builds the lossy image chunk of a WebP. */
export function webpPicture(width: number, height: number): Buffer {
  const frame = Buffer.from([0x30, 1, 0, 0x9d, 0x01, 0x2a, 0, 0, 0, 0, 0x0e, 0xc0, 0xfe, 0x25, 0xa4])
  frame.writeUInt16LE(width, 6)
  frame.writeUInt16LE(height, 8)
  return riffChunk('VP8 ', frame)
}

/** Builds the extended header of a WebP. */
export function webpHeader(width: number, height: number, flags: number): Buffer {
  const header = Buffer.alloc(10)
  header[0] = flags
  header.writeUIntLE(width - 1, 4, 3)
  header.writeUIntLE(height - 1, 7, 3)
  return riffChunk('VP8X', header)
}
