import { Readable } from 'node:stream'
import { findObject, readObject, type ObjectFiles, type ObjectRecord } from './object-files.ts'
import { S3Error } from './s3-error.ts'

type Range = { start: number; end: number }

/** Headers that a link may have instead of the object's own. */
const overrides = ['content-type', 'content-disposition', 'content-encoding', 'cache-control'] as const

/** The object of this key, or the bytes of it that the request names. Refuses with 404 when there is none. */
export async function getObject(
  files: ObjectFiles,
  key: string,
  query: ReadonlyMap<string, string>,
  request: Request,
): Promise<Response> {
  // What has been opened stays readable when the object is replaced.
  const { record, range, first, rest } = await files.turns(key, async () => {
    const found = requireRecord(await findObject(files, key))
    const wanted = readRange(request.headers.get('range'), found.size)
    const bytes = readObject(files, found, wanted?.start ?? 0, wanted?.end ?? found.size)
    return { record: found, range: wanted, first: await bytes.next(), rest: bytes }
  })
  const body = async function* () {
    if (first.done) return
    yield first.value
    yield* rest
  }
  const headers = headersOf(record)
  for (const name of overrides) {
    const value = query.get(`response-${name}`)
    if (value !== undefined) headers.set(name, value)
  }
  if (range) {
    headers.set('content-length', String(range.end - range.start))
    headers.set('content-range', `bytes ${range.start}-${range.end - 1}/${record.size}`)
  }
  return new Response(Readable.toWeb(Readable.from(body())) as ReadableStream, {
    status: range ? 206 : 200,
    headers,
  })
}

/** What there is to say about an object. Refuses with 404 when there is none. */
export function headObject(record: ObjectRecord | null): Response {
  return new Response(null, { headers: headersOf(requireRecord(record)) })
}

function requireRecord(record: ObjectRecord | null): ObjectRecord {
  if (!record) throw new S3Error(404, 'NoSuchKey', 'There is no such object.')
  return record
}

/** Objects are shown at the address of the panel, where none of them may act as a page of it. */
const headersOf = ({ contentType, size, etag, modified }: ObjectRecord) =>
  new Headers({
    'content-type': contentType,
    'content-length': String(size),
    etag,
    'last-modified': new Date(modified).toUTCString(),
    'accept-ranges': 'bytes',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox",
  })

/** The bytes that are asked for; all of them for what is no single range. Refuses with 416 what lies beyond the end. */
function readRange(header: string | null, size: number): Range | null {
  const [, from = '', to = ''] = /^bytes=(\d*)-(\d*)$/.exec(header ?? '') ?? []
  if (from === '' && to === '') return null
  const start = from === '' ? Math.max(size - Number(to), 0) : Number(from)
  const end = from === '' || to === '' ? size : Math.min(Number(to) + 1, size)
  if (from !== '' && to !== '' && Number(to) < Number(from)) return null
  if (start >= end) throw new S3Error(416, 'InvalidRange', 'The object has no such bytes.')
  return { start, end }
}
