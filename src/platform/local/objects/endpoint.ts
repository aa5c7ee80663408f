import { causeOf, log } from '../../../log.ts'
import { findObject, openObjectFiles, removeObject, type ObjectFiles } from './object-files.ts'
import { getObject, headObject } from './object-answers.ts'
import { putObject, putPart } from './object-bodies.ts'
import { notImplemented, S3Error } from './s3-error.ts'
import { checkSignature, type Credentials, type SignedRequest } from './signature.ts'
import { abortUpload, completeUpload, listUploads, openUpload } from './uploads.ts'
import { contentsOf, element, textElement, unescapeXml, xmlAnswer } from './xml.ts'

export type EndpointOptions = Credentials & {
  /** Where everything is kept. */
  directory: string
  /** The address of the store, with a path but without a slash at its end. */
  url: string
  /** The only bucket. */
  bucket: string
  /** Milliseconds since 1970. */
  now?: () => number
}

/** Answers what is asked of the store. */
export type ObjectEndpoint = (request: Request) => Promise<Response>

/** A request whose signature is good. `key` is empty for the bucket itself. */
type Asked = {
  method: string
  key: string
  query: Map<string, string>
  request: Request
  /** What the body has to hash to, where that was signed. */
  sha256: string | null
}

const longestKey = 1024
/** Bytes of the list of parts that completes an upload. */
const longestList = 4 * 1024 * 1024
/** Parts of a query that do not change what is asked. */
const incidental =
  /^(x-amz-(algorithm|credential|date|expires|signedheaders|signature|content-sha256)|x-id)$/i
const known = /^(x-amz-.*|x-id|response-.*|uploads|uploadId|partNumber|prefix|max-uploads|encoding-type)$/i

/**
 * An S3 service over a folder: objects and uploads in parts of one bucket, signed as AWS signs. What is not
 * signed, or not in time, is refused with 403; what S3 knows beyond that, with 501.
 */
export async function openObjectEndpoint(options: EndpointOptions): Promise<ObjectEndpoint> {
  const files = await openObjectFiles(options.directory)
  return async (request) => {
    try {
      return await answer(files, options.bucket, readRequest(request, options))
    } catch (error) {
      const refusal = error instanceof S3Error ? error : failure(error)
      const message = textElement('Message', refusal.message)
      const whole = xmlAnswer(refusal.status, 'Error', textElement('Code', refusal.code), message)
      return request.method === 'HEAD' ? new Response(null, whole) : whole
    }
  }
}

function failure(error: unknown): S3Error {
  log('error', 'The object store failed.', { cause: causeOf(error) })
  return new S3Error(500, 'InternalError', 'The store failed.')
}

function readRequest(request: Request, options: EndpointOptions): Asked {
  const { bucket, now = Date.now } = options
  const { host, pathname: base } = new URL(options.url)
  const signed: SignedRequest = {
    ...readUrl(request.url),
    method: request.method,
    host,
    headers: request.headers,
  }
  const { sha256 } = checkSignature(signed, options, now())
  const [, name = '', key = ''] = /^\/([^/]*)(?:\/(.*))?$/s.exec(signed.path.slice(base.length)) ?? []
  if (name !== bucket) throw new S3Error(404, 'NoSuchBucket', 'There is no such bucket.')
  if (Buffer.byteLength(key) > longestKey) throw new S3Error(400, 'KeyTooLongError', 'The key is too long.')
  const query = new Map(signed.query.filter(([part]) => !incidental.test(part)))
  const unknown = [...query.keys()].find((part) => !known.test(part))
  if (unknown !== undefined) throw notImplemented(`the part ${unknown} of a query`)
  return { method: request.method, key, query, request, sha256 }
}

function readUrl(url: string): Pick<SignedRequest, 'path' | 'query'> {
  const { pathname, search } = new URL(url)
  const pairs = search
    .slice(1)
    .split('&')
    .filter((pair) => pair !== '')
  try {
    return {
      path: decodeURIComponent(pathname),
      query: pairs.map((pair) => {
        const [name = '', ...value] = pair.split('=').map(decodeURIComponent)
        return [name, value.join('=')]
      }),
    }
  } catch {
    throw new S3Error(400, 'InvalidURI', 'The address cannot be read.')
  }
}

async function answer(files: ObjectFiles, bucket: string, asked: Asked): Promise<Response> {
  const { method, key, query } = asked
  if (key === '') return answerBucket(files, bucket, asked)
  if (query.has('uploads') || query.has('uploadId')) return answerUpload(files, bucket, asked)
  switch (method) {
    case 'GET':
      return getObject(files, key, query, asked.request)
    case 'HEAD':
      return headObject(await findObject(files, key))
    case 'PUT':
      return putObject(files, key, asked.request, asked.sha256)
    case 'DELETE':
      await removeObject(files, key)
      return new Response(null, { status: 204 })
    default:
      throw notImplemented(`${method} of an object`)
  }
}

async function answerBucket(files: ObjectFiles, bucket: string, { method, query }: Asked): Promise<Response> {
  if (method === 'HEAD') {
    // Throws when the folder is gone.
    await listUploads(files, '')
    return new Response(null)
  }
  if (method !== 'GET' || !query.has('uploads')) throw notImplemented(`${method} of a bucket`)
  const uploads = await listUploads(files, query.get('prefix') ?? '')
  return xmlAnswer(
    200,
    'ListMultipartUploadsResult',
    textElement('Bucket', bucket),
    textElement('IsTruncated', 'false'),
    ...uploads.map(({ key, id, initiated }) =>
      element(
        'Upload',
        textElement('Key', key),
        textElement('UploadId', id),
        textElement('Initiated', initiated),
      ),
    ),
  )
}

async function answerUpload(files: ObjectFiles, bucket: string, asked: Asked): Promise<Response> {
  const { method, key, query, request } = asked
  const id = query.get('uploadId') ?? ''
  if (method === 'POST' && query.has('uploads')) {
    const type = request.headers.get('content-type') ?? 'application/octet-stream'
    const upload = await openUpload(files, key, type)
    return uploadAnswer('InitiateMultipartUploadResult', bucket, key, textElement('UploadId', upload.id))
  }
  if (method === 'PUT' && query.has('partNumber')) {
    return putPart(files, { key, id, number: Number(query.get('partNumber')) }, request, asked.sha256)
  }
  if (method === 'POST') {
    const { etag } = await completeUpload(files, key, id, await readParts(request))
    return uploadAnswer('CompleteMultipartUploadResult', bucket, key, textElement('ETag', etag))
  }
  if (method !== 'DELETE') throw notImplemented(`${method} of an upload`)
  await abortUpload(files, key, id)
  return new Response(null, { status: 204 })
}

const uploadAnswer = (root: string, bucket: string, key: string, ...rest: string[]) =>
  xmlAnswer(200, root, textElement('Bucket', bucket), textElement('Key', key), ...rest)

async function readParts(request: Request): Promise<{ number: number; etag: string }[]> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request.body ?? []) {
    size += chunk.length
    if (size > longestList) throw new S3Error(400, 'MalformedXML', 'The list of parts is too long.')
    chunks.push(chunk)
  }
  return contentsOf(Buffer.concat(chunks).toString('utf8'), 'Part').map((part) => ({
    number: Number(contentsOf(part, 'PartNumber')[0]),
    etag: unescapeXml(contentsOf(part, 'ETag')[0] ?? ''),
  }))
}
