import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'

/** An object store. */
export type ObjectStore = {
  put: (key: string, body: Uint8Array, contentType: string) => Promise<void>
  /** Returns an object with its content type, or null. */
  get: (key: string) => Promise<StoredObject | null>
  /** Signs a link that reads the object for `seconds`, with `contentType` in the response if given. */
  signedUrl: (key: string, seconds: number, contentType?: string) => Promise<string>
  /** Deletes an object; a missing one is fine. */
  remove: (key: string) => Promise<void>
  /** Throws when the store cannot be reached. */
  ping: () => Promise<void>
  /** Undefined when the store does not support multipart uploads. */
  multipart?: MultipartUploads
}

export type StoredObject = { body: Uint8Array<ArrayBuffer>; contentType: string }

/** Multipart uploads, whose parts daemons send. */
export type MultipartUploads = {
  /** Creates an upload of an object with this content type, and returns its id. */
  create: (key: string, contentType: string) => Promise<string>
  /** Signs a link that accepts a `PUT` of one part for `seconds`, with any headers. Parts count from 1. */
  signPart: (key: string, uploadId: string, partNumber: number, seconds: number) => Promise<string>
  /**
   * Completes an upload. `gone` when it does not exist (it may have been completed before), `refused` when the parts do
   * not match those that were sent. Throws when a retry may succeed.
   */
  complete: (
    key: string,
    uploadId: string,
    parts: UploadedPart[],
  ) => Promise<'completed' | 'gone' | 'refused'>
  /** Aborts an upload; a missing one is fine. */
  abort: (key: string, uploadId: string) => Promise<void>
  /** Returns the size of an object in bytes, or null. */
  head: (key: string) => Promise<{ size: number } | null>
  /** Lists open uploads in the order of their keys, at most a thousand. `next` begins the next page, and is null on the last. */
  list: (from: UploadMarker | null) => Promise<{ uploads: OpenUpload[]; next: UploadMarker | null }>
}

export type OpenUpload = { key: string; uploadId: string; startedAt: Date }
export type UploadMarker = { key: string | undefined; uploadId: string | undefined }

/** A part with the ETag that the store returned for it, including quotes. */
export type UploadedPart = { tag: string; partNumber: number }

export type S3Options = {
  bucket: string
  region: string
  /** Null is AWS itself. */
  endpoint: string | null
  pathStyle: boolean
} & S3Keys

type S3Keys = { accessKeyId: string; secretAccessKey: string }

/** Without keys, those that AWS has for this program are used. */
export type BucketOptions = Omit<S3Options, keyof S3Keys> & Partial<S3Keys>

/** Milliseconds for completing an upload, for a ping, and for other calls. Daemons wait for 30 seconds, users for less. */
const timeoutsMs = { complete: 18_000, ping: 3_000, other: 8_000 }

const abortAfter = (timeoutMs = timeoutsMs.other) => ({ abortSignal: AbortSignal.timeout(timeoutMs) })

/** Creates an object store over an S3-compatible service. */
export function s3ObjectStore(options: BucketOptions): Required<ObjectStore> {
  const { accessKeyId, secretAccessKey } = options
  const client = new S3Client({
    region: options.region,
    ...(accessKeyId && secretAccessKey ? { credentials: { accessKeyId, secretAccessKey } } : {}),
    ...(options.endpoint ? { endpoint: options.endpoint } : {}),
    forcePathStyle: options.pathStyle,
    // The SDK's default puts the checksum of an empty body into presigned URLs, which real stores refuse.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  })
  const objectParams = (key: string) => ({ Bucket: options.bucket, Key: key })
  return {
    put: async (key, body, contentType) => {
      const command = new PutObjectCommand({ ...objectParams(key), Body: body, ContentType: contentType })
      await client.send(command, abortAfter())
    },
    get: (key) => readObject(client, objectParams(key)),
    signedUrl: (key, seconds, contentType) => {
      const command = new GetObjectCommand({ ...objectParams(key), ResponseContentType: contentType })
      return getSignedUrl(client, command, { expiresIn: seconds })
    },
    remove: async (key) => void (await client.send(new DeleteObjectCommand(objectParams(key)), abortAfter())),
    ping: async () => {
      await client.send(new HeadBucketCommand({ Bucket: options.bucket }), abortAfter(timeoutsMs.ping))
    },
    multipart: {
      ...s3Uploads(client, objectParams),
      list: (from) => listUploads(client, options.bucket, from),
    },
  }
}

type ObjectParams = { Bucket: string; Key: string }

async function readObject(client: S3Client, objectParams: ObjectParams): Promise<StoredObject | null> {
  try {
    const { Body, ContentType } = await client.send(new GetObjectCommand(objectParams), abortAfter())
    const body = (await Body?.transformToByteArray()) ?? new Uint8Array()
    return { body: new Uint8Array(body), contentType: ContentType ?? 'application/octet-stream' }
  } catch (error) {
    if (['NotFound', 'NoSuchKey'].includes(errorName(error))) return null
    throw error
  }
}

function s3Uploads(
  client: S3Client,
  objectParams: (key: string) => ObjectParams,
): Omit<MultipartUploads, 'list'> {
  return {
    create: async (key, contentType) => {
      const command = new CreateMultipartUploadCommand({ ...objectParams(key), ContentType: contentType })
      const { UploadId } = await client.send(command, abortAfter())
      if (!UploadId) throw new Error('The object store created an upload without an id.')
      return UploadId
    },
    signPart: (key, UploadId, PartNumber, seconds) =>
      getSignedUrl(client, new UploadPartCommand({ ...objectParams(key), UploadId, PartNumber }), {
        expiresIn: seconds,
      }),
    complete: (key, uploadId, parts) =>
      completeUpload(client, { ...objectParams(key), UploadId: uploadId }, parts),
    abort: async (key, UploadId) => {
      const command = new AbortMultipartUploadCommand({ ...objectParams(key), UploadId })
      await client.send(command, abortAfter()).catch((error: unknown) => {
        if (errorName(error) !== 'NoSuchUpload') throw error
      })
    },
    head: async (key) => {
      try {
        const { ContentLength } = await client.send(new HeadObjectCommand(objectParams(key)), abortAfter())
        return { size: ContentLength ?? 0 }
      } catch (error) {
        if (['NotFound', 'NoSuchKey'].includes(errorName(error))) return null
        throw error
      }
    },
  }
}

async function listUploads(
  client: S3Client,
  Bucket: string,
  from: UploadMarker | null,
): ReturnType<MultipartUploads['list']> {
  const markers = { KeyMarker: from?.key, UploadIdMarker: from?.uploadId }
  const page = await client.send(new ListMultipartUploadsCommand({ Bucket, ...markers }), abortAfter())
  const uploads = (page.Uploads ?? []).flatMap(({ Key, UploadId, Initiated }) =>
    Key && UploadId && Initiated ? [{ key: Key, uploadId: UploadId, startedAt: Initiated }] : [],
  )
  const next = page.IsTruncated ? { key: page.NextKeyMarker, uploadId: page.NextUploadIdMarker } : null
  return { uploads, next }
}

/** Errors of S3 for parts that no retry would accept. */
const rejectedPartErrors = [
  'InvalidPart',
  'InvalidPartOrder',
  'EntityTooSmall',
  'EntityTooLarge',
  'MalformedXML',
]

async function completeUpload(
  client: S3Client,
  upload: ObjectParams & { UploadId: string },
  parts: UploadedPart[],
): ReturnType<MultipartUploads['complete']> {
  const Parts = parts
    .toSorted((one, other) => one.partNumber - other.partNumber)
    .map(({ tag, partNumber }) => ({ ETag: tag, PartNumber: partNumber }))
  try {
    // The SDK also throws for errors that S3 sends with status 200.
    await client.send(new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts } }), {
      ...abortAfter(timeoutsMs.complete),
    })
    return 'completed'
  } catch (error) {
    if (errorName(error) === 'NoSuchUpload') return 'gone'
    if (rejectedPartErrors.includes(errorName(error))) return 'refused'
    throw error
  }
}

const errorName = (error: unknown) => (error instanceof Error ? error.name : '')
