import { Readable } from 'node:stream'
import { filePace, readAtPace, SlowBodyError } from '../../body-pace.ts'
import { type LinkOptions, type VerifiedLink, verifyLink } from './links.ts'
import { findObject, type ObjectFiles, type ObjectRecord, readObject, receiveBody } from './object-files.ts'
import { RequestError } from './request-error.ts'
import { requireUpload, storePart } from './uploads.ts'

type Range = { start: number; end: number }

/** Answers a request for a signed link: `GET` and `HEAD` of an object, `PUT` of a part. */
export async function answerRequest(
  files: ObjectFiles,
  links: LinkOptions,
  request: Request,
): Promise<Response> {
  const link = verifyLink(links, request)
  if (link.method === 'PUT') return receivePart(files, link, request)
  return request.method === 'HEAD' ? headObject(files, link) : sendObject(files, link, request)
}

/** Stores the body as a part of an upload; its tag is the `ETag` of the response, as in S3. */
async function receivePart(
  files: ObjectFiles,
  { key, params }: VerifiedLink,
  request: Request,
): Promise<Response> {
  const part = { key, id: params.get('uploadId') ?? '', partNumber: Number(params.get('partNumber')) }
  await requireUpload(files, key, part.id)
  const announced = request.headers.get('content-length')
  const size = announced === null ? null : Number(announced)
  const body = request.body ? receiveChunks(request.body) : []
  const etag = await receiveBody(files, body, size, (received) => storePart(files, part, received))
  return new Response(null, { headers: { etag } })
}

/** Yields the chunks of a body. Refuses with 408 one that comes too slowly, and with 400 when the client hangs up. */
async function* receiveChunks(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* readAtPace(body, filePace)
  } catch (error) {
    throw error instanceof SlowBodyError
      ? new RequestError(408, error.message)
      : new RequestError(400, 'The body ended before its end was sent.')
  }
}

async function headObject(files: ObjectFiles, { key, params }: VerifiedLink): Promise<Response> {
  return new Response(null, { headers: headersOf(requireRecord(await findObject(files, key)), params) })
}

async function sendObject(
  files: ObjectFiles,
  { key, params }: VerifiedLink,
  request: Request,
): Promise<Response> {
  // Reading begins before the object can be replaced: files stay readable once they are open.
  const { record, range, first, rest } = await files.mutex.run(key, async () => {
    const found = requireRecord(await findObject(files, key))
    const requested = readRange(request.headers.get('range'), found.size)
    const chunks = readObject(files, found, requested?.start, requested?.end)
    return { record: found, range: requested, first: await chunks.next(), rest: chunks }
  })
  const body = async function* () {
    if (first.done) return
    yield first.value
    yield* rest
  }
  const headers = headersOf(record, params)
  if (range) {
    headers.set('content-length', String(range.end - range.start))
    headers.set('content-range', `bytes ${range.start}-${range.end - 1}/${record.size}`)
  }
  return new Response(Readable.toWeb(Readable.from(body())) as ReadableStream, {
    status: range ? 206 : 200,
    headers,
  })
}

function requireRecord(record: ObjectRecord | null): ObjectRecord {
  if (!record) throw new RequestError(404, 'There is no such object.')
  return record
}

/** Objects are served from the origin of the panel, where none of them may run as a page. */
function headersOf(
  { key, contentType, size, etag, modified }: ObjectRecord,
  params: URLSearchParams,
): Headers {
  const fileName = encodeURIComponent(key.split('/').at(-1) ?? '').replace(
    /['()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16)}`,
  )
  return new Headers({
    'content-type': params.get('contentType') ?? contentType,
    'content-length': String(size),
    'content-disposition': `attachment; filename*=UTF-8''${fileName}`,
    etag,
    'last-modified': new Date(modified).toUTCString(),
    'accept-ranges': 'bytes',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox",
  })
}

/** Reads a single range; null stands for the whole object. Refuses with 416 a range beyond the end. */
function readRange(header: string | null, size: number): Range | null {
  const [, from = '', to = ''] = /^bytes=(\d*)-(\d*)$/.exec(header ?? '') ?? []
  if (from === '' && to === '') return null
  const start = from === '' ? Math.max(size - Number(to), 0) : Number(from)
  const end = from === '' || to === '' ? size : Math.min(Number(to) + 1, size)
  if (from !== '' && to !== '' && Number(to) < Number(from)) return null
  if (start >= end) throw new RequestError(416, 'The object does not have these bytes.')
  return { start, end }
}
