import { describe, expect, it } from 'vitest'
import { stripJpeg, stripPng, stripWebp } from '../../src/domain/images/metadata.ts'
import {
  exifSegment,
  jpeg,
  jpegEnd,
  jpegFrame,
  jpegScan,
  jpegSegment,
  jpegStart,
  png,
  pngChunk,
  pngSignature,
  riffChunk,
  webp,
  webpHeader,
  webpPicture,
} from '../support/pictures.ts'

const bytes = (text: string) => Buffer.from(text, 'latin1')
const same = (stripped: Uint8Array | null, expected: Buffer) =>
  expect(stripped === null ? null : Buffer.from(stripped).toString('hex')).toBe(expected.toString('hex'))

/** Checks that truncated files and files with trailing data are refused. */
function holdsToItsEnds(strip: (file: Uint8Array) => Uint8Array | null, file: Buffer, magic: number) {
  expect(strip(file)).not.toBeNull()
  for (let length = magic; length < file.length; length += 1) {
    expect(strip(file.subarray(0, length)), `the first ${length} bytes`).toBeNull()
  }
  for (const tail of ['\0', '<script>', 'PK\x03\x04']) {
    expect(strip(Buffer.concat([file, bytes(tail)])), tail).toBeNull()
  }
}

describe('PNG files', () => {
  const profile = pngChunk('iCCP', bytes('profile'))

  it('lose texts, EXIF, times and chunks of their maker, and keep their colours', () => {
    const written = ['tEXt', 'zTXt', 'iTXt', 'eXIf', 'tIME', 'caBX', 'prVt'].map((type) =>
      pngChunk(type, bytes('52.5163 N')),
    )
    same(stripPng(png(3, 2, [...written, profile])), png(3, 2, [profile]))
  })

  it('are whole or refused', () => {
    holdsToItsEnds(stripPng, png(3, 2, [profile]), 8)
  })

  it('begin with their header, have data, and no unknown critical chunk', () => {
    const header = png(1, 1).subarray(8, 33)
    const data = pngChunk('IDAT', bytes('x'))
    const end = pngChunk('IEND')
    expect(stripPng(Buffer.concat([pngSignature, header, data, end]))).not.toBeNull()
    expect(stripPng(Buffer.concat([pngSignature, data, header, end]))).toBeNull()
    expect(stripPng(Buffer.concat([pngSignature, header, end]))).toBeNull()
    expect(
      stripPng(Buffer.concat([pngSignature, header, pngChunk('HTML', bytes('<p>')), data, end])),
    ).toBeNull()
    expect(
      stripPng(Buffer.concat([pngSignature, bytes('<html><script>alert(1)</script></html>')])),
    ).toBeNull()
  })
})

describe('JPEG files', () => {
  const jfif = jpegSegment(0xe0, 'JFIF\0\x01\x01\x01\0\x48\0\x48\0\0')
  const profile = jpegSegment(0xe2, 'ICC_PROFILE\0\x01\x01profile')
  const adobe = jpegSegment(0xee, 'Adobe\0\x64\0\0\0\0\x01')

  it('lose EXIF, XMP, comments and thumbnails, and keep their colours', () => {
    const written = [
      exifSegment(1),
      jpegSegment(0xe1, 'http://ns.adobe.com/xap/1.0/\0<x:xmpmeta/>'),
      jpegSegment(0xe0, 'JFXX\0\x10thumbnail'),
      jpegSegment(0xe0, 'JFIF\0\x01\x01\x01\0\x48\0\x48\x01\x01RGB'),
      jpegSegment(0xed, 'Photoshop 3.0\0by a user'),
      jpegSegment(0xee, 'Adobe and some other text'),
      jpegSegment(0xe2, 'MPF\0more pictures'),
      jpegSegment(0xfe, 'a comment'),
    ]
    same(stripJpeg(jpeg(3, 2, [jfif, ...written, profile, adobe])), jpeg(3, 2, [jfif, profile, adobe]))
  })

  it.each([true, false])('stay as they are held (little endian: %s)', (isLittle) => {
    for (const orientation of [2, 3, 6, 8]) {
      const stripped = stripJpeg(jpeg(3, 2, [exifSegment(orientation, isLittle)])) ?? new Uint8Array()
      const text = Buffer.from(stripped).toString('latin1')
      expect(text).not.toContain('52.5163')
      const tiff = text.indexOf('Exif') + 6
      expect([tiff, stripped[tiff + 10 + 9]]).toEqual([12, orientation])
      same(stripJpeg(stripped), Buffer.from(stripped))
    }
  })

  it('are upright where EXIF is broken', () => {
    const broken = [
      '',
      'MM',
      'MM\0*\xff\xff\xff\xff',
      'II*\0\x08\0\0\0\xff\xff',
      'MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x63\0\0',
    ]
    for (const tiff of broken) {
      same(stripJpeg(jpeg(3, 2, [jpegSegment(0xe1, `Exif\0\0${tiff}`)])), jpeg(3, 2))
    }
  })

  it('lose what stands between their scans, and the padding of markers', () => {
    const comment = jpegSegment(0xfe, 'between')
    const padding = Buffer.from([0xff, 0xff])
    const progressive = [jpegStart, padding, jpegFrame(3, 2), jpegScan, comment, jpegScan, jpegEnd]
    same(
      stripJpeg(Buffer.concat(progressive)),
      Buffer.concat([jpegStart, jpegFrame(3, 2), jpegScan, jpegScan, jpegEnd]),
    )
  })

  it('are whole or refused', () => {
    holdsToItsEnds(stripJpeg, jpeg(3, 2, [jfif, profile]), 3)
  })

  it('have one frame, which comes before the scan', () => {
    const frame = jpegFrame(3, 2)
    for (const parts of [
      [frame],
      [jpegScan],
      [jpegScan, frame],
      [frame, frame, jpegScan],
      [frame, jpegStart, jpegScan],
    ]) {
      expect(stripJpeg(Buffer.concat([jpegStart, ...parts, jpegEnd]))).toBeNull()
    }
  })
})

describe('WebP files', () => {
  const picture = webpPicture(3, 2)
  const profile = riffChunk('ICCP', bytes('profile'))
  const exif = riffChunk('EXIF', bytes('52.5163 N'))
  const xmp = riffChunk('XMP ', bytes('<x:xmpmeta/>'))
  const metadata = 0x08 | 0x04
  const hasProfile = 0x20

  it('lose EXIF, XMP and unknown chunks, and say that they have none', () => {
    const unknown = riffChunk('HTML', bytes('<script>'))
    same(
      stripWebp(webp(webpHeader(3, 2, metadata | hasProfile), profile, picture, exif, xmp, unknown)),
      webp(webpHeader(3, 2, hasProfile), profile, picture),
    )
    same(stripWebp(webp(picture, unknown)), webp(picture))
  })

  it('of other encoders stay as they are', () => {
    for (const made of [
      'UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA',
      'UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==',
    ]) {
      same(stripWebp(Buffer.from(made, 'base64')), Buffer.from(made, 'base64'))
    }
  })

  it('that move lose it in every frame', () => {
    const head = Buffer.alloc(16)
    const frame = (...chunks: Buffer[]) => riffChunk('ANMF', Buffer.concat([head, ...chunks]))
    const moving = (...frames: Buffer[]) =>
      webp(webpHeader(3, 2, 0x02), riffChunk('ANIM', Buffer.alloc(6)), ...frames)
    same(
      stripWebp(moving(frame(picture, exif), frame(riffChunk('ALPH', bytes('alpha')), picture))),
      moving(frame(picture), frame(riffChunk('ALPH', bytes('alpha')), picture)),
    )
    expect(stripWebp(moving())).toBeNull()
    expect(stripWebp(moving(frame()))).toBeNull()
    expect(stripWebp(moving(riffChunk('ANMF', Buffer.alloc(4))))).toBeNull()
    expect(stripWebp(moving(frame(picture), picture))).toBeNull()
  })

  it('are whole or refused', () => {
    holdsToItsEnds(stripWebp, webp(webpHeader(3, 2, hasProfile), profile, picture), 12)
    const short = webp(webpHeader(3, 2, 0), picture).subarray(0, -10)
    short.writeUInt32LE(short.length - 8, 4)
    expect(stripWebp(short)).toBeNull()
  })

  it('have one picture, and begin with it or with their header', () => {
    expect(stripWebp(webp(webpHeader(3, 2, 0)))).toBeNull()
    expect(stripWebp(webp(riffChunk('VP8X', new Uint8Array()), picture))).toBeNull()
    expect(stripWebp(webp(picture, picture))).toBeNull()
    expect(stripWebp(webp(webpHeader(3, 2, 0), picture, picture))).toBeNull()
    expect(stripWebp(webp(exif, picture))).toBeNull()
    expect(stripWebp(webp())).toBeNull()
    for (const [type, content] of [
      ['VP8 ', 'x'.repeat(20)],
      ['VP8 ', 'xxx\x9d\x01\x2ax'],
      ['VP8L', 'x'.repeat(20)],
      ['VP8L', '\x2f'],
    ] as const) {
      expect(stripWebp(webp(riffChunk(type, bytes(content)))), type).toBeNull()
    }
  })
})
