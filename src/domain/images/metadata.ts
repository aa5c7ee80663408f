/** Decodes bytes from `start` to `end` as Latin-1, one character each. */
const latin1 = (bytes: Uint8Array, start: number, end: number) =>
  String.fromCharCode(...bytes.subarray(start, end))

const toDataView = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

function concatBytes(parts: Uint8Array[]): Uint8Array<ArrayBuffer> {
  const output = new Uint8Array(parts.reduce((size, part) => size + part.byteLength, 0))
  let offset = 0
  for (const part of parts) {
    output.set(part, offset)
    offset += part.byteLength
  }
  return output
}

const pngSignatureLength = 8
/** Chunks that affect how the image looks: colours, transparency, animation. */
const keptPngChunks = 'IHDR PLTE IDAT IEND tRNS gAMA cHRM sRGB iCCP cICP sBIT bKGD pHYs acTL fcTL fdAT'.split(
  ' ',
)

/**
 * Removes texts, EXIF, times and private chunks from a PNG. Returns null unless it is complete: a header,
 * data, and an end without trailing bytes. `bytes` begin with the signature.
 */
export function stripPng(bytes: Uint8Array): Uint8Array<ArrayBuffer> | null {
  const view = toDataView(bytes)
  const kept = [bytes.subarray(0, pngSignatureLength)]
  const seen = new Set<string>()
  for (let offset = pngSignatureLength; offset + 12 <= bytes.byteLength;) {
    const end = offset + 12 + view.getUint32(offset)
    if (end > bytes.byteLength) return null
    const type = latin1(bytes, offset + 4, offset + 8)
    if (seen.size === 0 && type !== 'IHDR') return null
    seen.add(type)
    const isKept = keptPngChunks.includes(type)
    if (isKept) kept.push(bytes.subarray(offset, end))
    // An upper-case first letter marks a critical chunk: without it the image cannot be shown.
    else if (/^[^a-z]/.test(type)) return null
    if (type === 'IEND') return end === bytes.byteLength && seen.has('IDAT') ? concatBytes(kept) : null
    offset = end
  }
  return null
}

const webpHeaderLength = 12
const webpImageChunks = ['VP8 ', 'VP8L']
const keptWebpChunks = ['VP8X', 'ICCP', 'ANIM', 'ANMF', 'ALPH', ...webpImageChunks]
/** Flags of a `VP8X` chunk: has EXIF, has XMP. */
const webpMetadataFlags = 0x08 | 0x04
/** Bytes of a frame before its own chunks: position, size, duration. */
const frameHeaderLength = 16

/**
 * Removes EXIF, XMP and unknown chunks from a WebP. Returns null unless it is complete: as long as its
 * header says, with one still image or with frames. `bytes` begin with `RIFF`, a length, and `WEBP`.
 */
export function stripWebp(bytes: Uint8Array): Uint8Array<ArrayBuffer> | null {
  if (toDataView(bytes).getUint32(4, true) !== bytes.byteLength - 8) return null
  const chunks = readRiffChunks(bytes, webpHeaderLength)
  const first = chunks?.[0]?.type ?? ''
  if (!chunks || !['VP8X', ...webpImageChunks].includes(first)) return null
  const imageChunks = chunks.filter(isImageChunk).length
  const frames = chunks.filter(({ type }) => type === 'ANMF').length
  if (frames === 0 ? imageChunks !== 1 : imageChunks !== 0) return null
  const allowedTypes = first === 'VP8X' ? keptWebpChunks : [first]
  const kept = chunks.filter(({ type }) => allowedTypes.includes(type)).map(stripChunk)
  if (!kept.every((part) => part !== null)) return null
  const output = concatBytes([bytes.subarray(0, webpHeaderLength), ...kept])
  toDataView(output).setUint32(4, output.byteLength - 8, true)
  return output
}

type RiffChunk = { type: string; bytes: Uint8Array }

/**
 * Reads the chunks from `start` on, each with its header and padding. Returns null when they do not end
 * with the bytes.
 */
function readRiffChunks(bytes: Uint8Array, start: number): RiffChunk[] | null {
  const view = toDataView(bytes)
  const chunks: RiffChunk[] = []
  let offset = start
  while (offset + 8 <= bytes.byteLength) {
    const length = view.getUint32(offset + 4, true)
    const end = offset + 8 + length + (length % 2)
    if (end > bytes.byteLength) return null
    chunks.push({ type: latin1(bytes, offset, offset + 4), bytes: bytes.subarray(offset, end) })
    offset = end
  }
  return offset === bytes.byteLength ? chunks : null
}

const isImageChunk = ({ type }: RiffChunk) => webpImageChunks.includes(type)

/** Whether a lossy or lossless image begins with the header of its format. */
function hasImageHeader({ type, bytes }: RiffChunk): boolean {
  if (type === 'VP8L') return bytes.byteLength >= 13 && bytes[8] === 0x2f
  return bytes.byteLength >= 18 && latin1(bytes, 11, 14) === '\x9d\x01\x2a'
}

function stripChunk(chunk: RiffChunk): Uint8Array | null {
  const { type, bytes } = chunk
  if (type === 'VP8X') {
    const header = bytes.slice()
    const flags = header[8]
    if (flags === undefined) return null
    header[8] = flags & ~webpMetadataFlags
    return header
  }
  if (type === 'ANMF') return stripFrame(bytes)
  return isImageChunk(chunk) && !hasImageHeader(chunk) ? null : bytes
}

function stripFrame(bytes: Uint8Array): Uint8Array | null {
  const start = 8 + frameHeaderLength
  const chunks = bytes.byteLength < start ? null : readRiffChunks(bytes, start)
  const kept = chunks?.filter((chunk) => chunk.type === 'ALPH' || isImageChunk(chunk))
  const imageChunks = kept?.filter(isImageChunk)
  if (!kept || imageChunks?.length !== 1 || !imageChunks.every(hasImageHeader)) return null
  const frame = concatBytes([bytes.subarray(0, start), ...kept.map((chunk) => chunk.bytes)])
  toDataView(frame).setUint32(4, frame.byteLength - 8, true)
  return frame
}

/** Second bytes of the markers in a JPEG. */
const jpegMarkers = {
  restart: [0xd0, 0xd1, 0xd2, 0xd3, 0xd4, 0xd5, 0xd6, 0xd7],
  start: 0xd8,
  end: 0xd9,
  scan: 0xda,
  comment: 0xfe,
  frames: [0xc0, 0xc1, 0xc2, 0xc3, 0xc5, 0xc6, 0xc7, 0xc9, 0xca, 0xcb, 0xcd, 0xce, 0xcf],
}

/**
 * Removes EXIF, XMP, comments and thumbnails from a JPEG, and writes its orientation again. Returns null
 * unless it is complete: one frame, a scan, and an end without trailing bytes. `bytes` begin with `FF D8`.
 */
export function stripJpeg(bytes: Uint8Array): Uint8Array<ArrayBuffer> | null {
  const kept: Uint8Array[] = []
  let orientation = 1
  let frames = 0
  for (let offset = 2; offset + 2 <= bytes.byteLength;) {
    const segment = readJpegSegment(bytes, offset)
    if (segment === null) return null
    const { marker, content, end } = segment
    if (marker === jpegMarkers.end) {
      const isWhole = end === bytes.byteLength && frames === 1 && kept.some(isScan)
      const start = [
        bytes.subarray(0, 2),
        ...(orientation === 1 ? [] : [buildOrientationSegment(orientation)]),
      ]
      return isWhole ? concatBytes([...start, ...kept, content]) : null
    }
    if (jpegMarkers.frames.includes(marker)) frames += 1
    if (marker === jpegMarkers.scan && frames !== 1) return null
    if (isExif(marker, content)) orientation = readOrientation(toDataView(content.subarray(10)))
    if (isKeptSegment(marker, content)) kept.push(content)
    offset = end
  }
  return null
}

type JpegSegment = { marker: number; content: Uint8Array; end: number }

const isScan = (content: Uint8Array) => content[1] === jpegMarkers.scan

/**
 * Reads the segment at `offset` with its marker; a scan includes its data. Returns null when there is none.
 */
function readJpegSegment(bytes: Uint8Array, offset: number): JpegSegment | null {
  let start = offset
  if (bytes[start] !== 0xff) return null
  // Fill bytes: any number of them may precede a marker.
  while (bytes[start + 1] === 0xff) start += 1
  const marker = bytes[start + 1]
  if (marker === undefined || marker < 0xc0) return null
  if (marker === jpegMarkers.end) return { marker, content: bytes.subarray(start, start + 2), end: start + 2 }
  if (marker === jpegMarkers.start || jpegMarkers.restart.includes(marker) || start + 4 > bytes.byteLength)
    return null
  const length = toDataView(bytes).getUint16(start + 2)
  const header = start + 2 + length
  if (length < 2 || header > bytes.byteLength) return null
  const end = marker === jpegMarkers.scan ? findScanEnd(bytes, header) : header
  return { marker, content: bytes.subarray(start, end), end }
}

/**
 * Returns the offset of the next marker. In the data of a scan, FF is followed by 00 or by a restart
 * marker.
 */
function findScanEnd(bytes: Uint8Array, start: number): number {
  for (let offset = start; offset + 1 < bytes.byteLength; offset += 1) {
    const next = bytes[offset + 1] ?? 0
    if (bytes[offset] === 0xff && next !== 0 && !jpegMarkers.restart.includes(next)) return offset
  }
  return bytes.byteLength
}

const hasIdentifier = (content: Uint8Array, name: string) => latin1(content, 4, 4 + name.length) === name

const isExif = (marker: number, content: Uint8Array) => marker === 0xe1 && hasIdentifier(content, 'Exif\0\0')

/**
 * Of the application segments, keeps the colour profile and those that simple decoders need for colours,
 * without thumbnails.
 */
function isKeptSegment(marker: number, content: Uint8Array): boolean {
  if (marker === 0xe0) return hasIdentifier(content, 'JFIF\0') && content.byteLength === 18
  if (marker === 0xe2) return hasIdentifier(content, 'ICC_PROFILE\0')
  if (marker === 0xee) return hasIdentifier(content, 'Adobe') && content.byteLength === 16
  return marker < 0xe0
}

const orientationTag = 0x0112

/**
 * Returns the orientation in the first directory of a TIFF header, 1 to 8; 1, which is upright, when there
 * is none.
 */
function readOrientation(tiff: DataView): number {
  if (tiff.byteLength < 8) return 1
  const isLittleEndian = tiff.getUint16(0) === 0x4949
  const directory = tiff.getUint32(4, isLittleEndian)
  if (directory + 2 > tiff.byteLength) return 1
  const entries = tiff.getUint16(directory, isLittleEndian)
  for (let index = 0; index < entries; index += 1) {
    const offset = directory + 2 + 12 * index
    if (offset + 12 > tiff.byteLength) return 1
    if (tiff.getUint16(offset, isLittleEndian) !== orientationTag) continue
    const value = tiff.getUint16(offset + 8, isLittleEndian)
    return value >= 1 && value <= 8 ? value : 1
  }
  return 1
}

/** Builds an EXIF segment with only the orientation: one directory of one entry, big endian. */
function buildOrientationSegment(orientation: number): Uint8Array {
  const head = [0xff, 0xe1, 0, 34, ...new TextEncoder().encode('Exif\0\0MM'), 0, 42, 0, 0, 0, 8]
  const entry = [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0]
  return Uint8Array.from([...head, 0, 1, ...entry, 0, 0, 0, 0])
}
