/** An image file split up and put together again without what was written beside the picture. */

const ascii = (bytes: Uint8Array, start: number, end: number) =>
  String.fromCharCode(...bytes.subarray(start, end))

const viewOf = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

function join(parts: Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((size, part) => size + part.byteLength, 0))
  let offset = 0
  for (const part of parts) {
    whole.set(part, offset)
    offset += part.byteLength
  }
  return whole
}

const pngSignatureLength = 8
/** Chunks that say how the picture looks; its colours, its transparency, its movement. */
const pngChunks = 'IHDR PLTE IDAT IEND tRNS gAMA cHRM sRGB iCCP cICP sBIT bKGD pHYs acTL fcTL fdAT'.split(' ')

/**
 * The PNG without texts, EXIF, times and chunks of its maker. Null unless it is whole: a header, data, and an
 * end behind which nothing stands. `bytes` begin with the signature.
 */
export function stripPng(bytes: Uint8Array): Uint8Array<ArrayBuffer> | null {
  const view = viewOf(bytes)
  const kept = [bytes.subarray(0, pngSignatureLength)]
  const seen = new Set<string>()
  for (let at = pngSignatureLength; at + 12 <= bytes.byteLength;) {
    const end = at + 12 + view.getUint32(at)
    if (end > bytes.byteLength) return null
    const type = ascii(bytes, at + 4, at + 8)
    if (seen.size === 0 && type !== 'IHDR') return null
    seen.add(type)
    const isKept = pngChunks.includes(type)
    if (isKept) kept.push(bytes.subarray(at, end))
    // Capital letters in front are chunks without which nobody can show the picture.
    else if (/^[^a-z]/.test(type)) return null
    if (type === 'IEND') return end === bytes.byteLength && seen.has('IDAT') ? join(kept) : null
    at = end
  }
  return null
}

const webpHeaderLength = 12
const webpStills = ['VP8 ', 'VP8L']
const webpChunks = ['VP8X', 'ICCP', 'ANIM', 'ANMF', 'ALPH', ...webpStills]
/** In the flags of a `VP8X` chunk: there is EXIF, there is XMP. */
const webpMetadataFlags = 0x08 | 0x04
/** Of a frame: place, size, duration, before its own chunks begin. */
const frameHeaderLength = 16

/**
 * The WebP without EXIF, XMP and unknown chunks. Null unless it is whole: as long as it says, with one still
 * picture, or frames. `bytes` begin with `RIFF`, a length, and `WEBP`.
 */
export function stripWebp(bytes: Uint8Array): Uint8Array<ArrayBuffer> | null {
  if (viewOf(bytes).getUint32(4, true) !== bytes.byteLength - 8) return null
  const chunks = riffChunks(bytes, webpHeaderLength)
  const first = chunks?.[0]?.type ?? ''
  if (!chunks || !['VP8X', ...webpStills].includes(first)) return null
  const stills = chunks.filter(isStill).length
  const frames = chunks.filter(({ type }) => type === 'ANMF').length
  if (frames === 0 ? stills !== 1 : stills !== 0) return null
  const wanted = first === 'VP8X' ? webpChunks : [first]
  const kept = chunks.filter(({ type }) => wanted.includes(type)).map(strippedChunk)
  if (!kept.every((part) => part !== null)) return null
  const whole = join([bytes.subarray(0, webpHeaderLength), ...kept])
  viewOf(whole).setUint32(4, whole.byteLength - 8, true)
  return whole
}

type RiffChunk = { type: string; bytes: Uint8Array }

/** The chunks from `start` on, each with its header and padding; null when they do not end where the bytes do. */
function riffChunks(bytes: Uint8Array, start: number): RiffChunk[] | null {
  const view = viewOf(bytes)
  const chunks: RiffChunk[] = []
  let at = start
  while (at + 8 <= bytes.byteLength) {
    const length = view.getUint32(at + 4, true)
    const end = at + 8 + length + (length % 2)
    if (end > bytes.byteLength) return null
    chunks.push({ type: ascii(bytes, at, at + 4), bytes: bytes.subarray(at, end) })
    at = end
  }
  return at === bytes.byteLength ? chunks : null
}

const isStill = ({ type }: RiffChunk) => webpStills.includes(type)

/** Whether a picture, lossy or not, begins as its kind does, with its sides. */
function hasPictureHeader({ type, bytes }: RiffChunk): boolean {
  if (type === 'VP8L') return bytes.byteLength >= 13 && bytes[8] === 0x2f
  return bytes.byteLength >= 18 && ascii(bytes, 11, 14) === '\x9d\x01\x2a'
}

function strippedChunk(chunk: RiffChunk): Uint8Array | null {
  const { type, bytes } = chunk
  if (type === 'VP8X') {
    const header = bytes.slice()
    const flags = header[8]
    if (flags === undefined) return null
    header[8] = flags & ~webpMetadataFlags
    return header
  }
  if (type === 'ANMF') return strippedFrame(bytes)
  return isStill(chunk) && !hasPictureHeader(chunk) ? null : bytes
}

function strippedFrame(bytes: Uint8Array): Uint8Array | null {
  const start = 8 + frameHeaderLength
  const chunks = bytes.byteLength < start ? null : riffChunks(bytes, start)
  const kept = chunks?.filter((chunk) => chunk.type === 'ALPH' || isStill(chunk))
  const stills = kept?.filter(isStill)
  if (!kept || stills?.length !== 1 || !stills.every(hasPictureHeader)) return null
  const frame = join([bytes.subarray(0, start), ...kept.map((chunk) => chunk.bytes)])
  viewOf(frame).setUint32(4, frame.byteLength - 8, true)
  return frame
}

/** Second bytes of the markers in a JPEG. */
const jpeg = {
  restart: [0xd0, 0xd1, 0xd2, 0xd3, 0xd4, 0xd5, 0xd6, 0xd7],
  start: 0xd8,
  end: 0xd9,
  scan: 0xda,
  comment: 0xfe,
  frames: [0xc0, 0xc1, 0xc2, 0xc3, 0xc5, 0xc6, 0xc7, 0xc9, 0xca, 0xcb, 0xcd, 0xce, 0xcf],
}

/**
 * The JPEG without EXIF, XMP, comments and thumbnails; which way up it is held is written down anew. Null
 * unless it is whole: one frame, a scan, and an end behind which nothing stands. `bytes` begin with `FF D8`.
 */
export function stripJpeg(bytes: Uint8Array): Uint8Array<ArrayBuffer> | null {
  const kept: Uint8Array[] = []
  let orientation = 1
  let frames = 0
  for (let at = 2; at + 2 <= bytes.byteLength;) {
    const segment = jpegSegment(bytes, at)
    if (segment === null) return null
    const { marker, content, end } = segment
    if (marker === jpeg.end) {
      const isWhole = end === bytes.byteLength && frames === 1 && kept.some(isScan)
      const start = [bytes.subarray(0, 2), ...(orientation === 1 ? [] : [orientationSegment(orientation)])]
      return isWhole ? join([...start, ...kept, content]) : null
    }
    if (jpeg.frames.includes(marker)) frames += 1
    if (marker === jpeg.scan && frames !== 1) return null
    if (isExif(marker, content)) orientation = orientationIn(viewOf(content.subarray(10)))
    if (isPicture(marker, content)) kept.push(content)
    at = end
  }
  return null
}

type JpegSegment = { marker: number; content: Uint8Array; end: number }

const isScan = (content: Uint8Array) => content[1] === jpeg.scan

/** The segment that begins at `at`, with its marker; that of a scan with the data behind it. Null when there is none. */
function jpegSegment(bytes: Uint8Array, at: number): JpegSegment | null {
  let start = at
  if (bytes[start] !== 0xff) return null
  // Any number of these may stand in front of a marker.
  while (bytes[start + 1] === 0xff) start += 1
  const marker = bytes[start + 1]
  if (marker === undefined || marker < 0xc0) return null
  if (marker === jpeg.end) return { marker, content: bytes.subarray(start, start + 2), end: start + 2 }
  if (marker === jpeg.start || jpeg.restart.includes(marker) || start + 4 > bytes.byteLength) return null
  const length = viewOf(bytes).getUint16(start + 2)
  const header = start + 2 + length
  if (length < 2 || header > bytes.byteLength) return null
  const end = marker === jpeg.scan ? endOfScan(bytes, header) : header
  return { marker, content: bytes.subarray(start, end), end }
}

/** Where the next marker stands: in data, FF is followed by 00, and restarts are part of it. */
function endOfScan(bytes: Uint8Array, start: number): number {
  for (let at = start; at + 1 < bytes.byteLength; at += 1) {
    const next = bytes[at + 1] ?? 0
    if (bytes[at] === 0xff && next !== 0 && !jpeg.restart.includes(next)) return at
  }
  return bytes.byteLength
}

const beginsWith = (content: Uint8Array, name: string) => ascii(content, 4, 4 + name.length) === name

const isExif = (marker: number, content: Uint8Array) => marker === 0xe1 && beginsWith(content, 'Exif\0\0')

/** Of what applications write, the colour profile, and by what plain decoders tell the colours, without thumbnails. */
function isPicture(marker: number, content: Uint8Array): boolean {
  if (marker === 0xe0) return beginsWith(content, 'JFIF\0') && content.byteLength === 18
  if (marker === 0xe2) return beginsWith(content, 'ICC_PROFILE\0')
  if (marker === 0xee) return beginsWith(content, 'Adobe') && content.byteLength === 16
  return marker < 0xe0
}

const orientationTag = 0x0112

/** The orientation in the first directory of a TIFF header, 1 to 8; 1, which is upright, where it is not told. */
function orientationIn(tiff: DataView): number {
  if (tiff.byteLength < 8) return 1
  const isLittle = tiff.getUint16(0) === 0x4949
  const directory = tiff.getUint32(4, isLittle)
  if (directory + 2 > tiff.byteLength) return 1
  const entries = tiff.getUint16(directory, isLittle)
  for (let index = 0; index < entries; index += 1) {
    const at = directory + 2 + 12 * index
    if (at + 12 > tiff.byteLength) return 1
    if (tiff.getUint16(at, isLittle) !== orientationTag) continue
    const value = tiff.getUint16(at + 8, isLittle)
    return value >= 1 && value <= 8 ? value : 1
  }
  return 1
}

/** EXIF that says nothing else: one directory of one entry, big endian. */
function orientationSegment(orientation: number): Uint8Array {
  const head = [0xff, 0xe1, 0, 34, ...new TextEncoder().encode('Exif\0\0MM'), 0, 42, 0, 0, 0, 8]
  const entry = [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0]
  return Uint8Array.from([...head, 0, 1, ...entry, 0, 0, 0, 0])
}
