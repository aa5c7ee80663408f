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
  type S3ClientConfig,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'

/** A store of named byte strings. */
export type ObjectStore = {
  put: (key: string, body: Uint8Array, contentType: string) => Promise<void>
  /** The object with its content type, or null when there is none. */
  get: (key: string) => Promise<StoredObject | null>
  /** A link by which anybody may read the object for `seconds`, said to be of `contentType` if that is given. */
  signedUrl: (key: string, seconds: number, contentType?: string) => Promise<string>
  /** Nothing is there afterwards; nothing being there before is fine. */
  remove: (key: string) => Promise<void>
  /** Throws when the store cannot be reached. */
  ping: () => Promise<void>
  /** Left out where the store takes objects in one piece only. */
  multipart?: MultipartUploads
}

export type StoredObject = { body: Uint8Array<ArrayBuffer>; contentType: string }

/** Objects which others send to the store in parts. */
export type MultipartUploads = {
  /** Opens an upload; its id. The object will be of that content type. */
  create: (key: string, contentType: string) => Promise<string>
  /** A link by which anybody may `PUT` one part, whatever its headers, for `seconds`. Parts count from 1. */
  signPart: (key: string, uploadId: string, partNumber: number, seconds: number) => Promise<string>
  /**
   * Joins the parts. `gone` when there is no such upload (any more: it may have been completed before),
   * `refused` when the parts are not those that were sent. Throws when it may go better another time.
   */
  complete: (
    key: string,
    uploadId: string,
    parts: UploadedPart[],
  ) => Promise<'completed' | 'gone' | 'refused'>
  /** There is no such upload afterwards; none being there before is fine. */
  abort: (key: string, uploadId: string) => Promise<void>
  /** Size of an object in bytes, or null when there is none. */
  head: (key: string) => Promise<{ size: number } | null>
  /** Uploads that are open, by their keys and at most a thousand; the others from `next` on, which the last ones have not. */
  list: (from: UploadMarker | null) => Promise<{ uploads: OpenUpload[]; next: UploadMarker | null }>
}

export type OpenUpload = { key: string; uploadId: string; startedAt: Date }
export type UploadMarker = { key: string | undefined; uploadId: string | undefined }

/** A part as the store named it when it came: the tag keeps its quotes. */
export type UploadedPart = { tag: string; partNumber: number }

export type S3Options = {
  bucket: string
  region: string
  accessKeyId: string
  secretAccessKey: string
  /** Null is AWS itself. */
  endpoint: string | null
  pathStyle: boolean
  /** How requests get there; over the network when left out. */
  requestHandler?: NonNullable<S3ClientConfig['requestHandler']>
}

/**
 * Milliseconds for joining parts, for finding out whether the store answers, and for anything else: daemons wait
 * 30 seconds, people less, and what the panel itself sends and reads is as small as a picture.
 */
const patience = { join: 18_000, ping: 3_000, other: 8_000 }

const soon = (milliseconds = patience.other) => ({ abortSignal: AbortSignal.timeout(milliseconds) })

/** The store over an S3-compatible service. */
export function s3ObjectStore(options: S3Options): Required<ObjectStore> {
  const client = new S3Client({
    region: options.region,
    credentials: { accessKeyId: options.accessKeyId, secretAccessKey: options.secretAccessKey },
    ...(options.endpoint ? { endpoint: options.endpoint } : {}),
    forcePathStyle: options.pathStyle,
    ...(options.requestHandler ? { requestHandler: options.requestHandler } : {}),
    // The SDK's default puts the checksum of an empty body into presigned URLs, which real stores refuse.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  })
  const at = (key: string) => ({ Bucket: options.bucket, Key: key })
  return {
    put: async (key, body, contentType) => {
      const command = new PutObjectCommand({ ...at(key), Body: body, ContentType: contentType })
      await client.send(command, soon())
    },
    get: (key) => readObject(client, at(key)),
    signedUrl: (key, seconds, contentType) => {
      const command = new GetObjectCommand({ ...at(key), ResponseContentType: contentType })
      return getSignedUrl(client, command, { expiresIn: seconds })
    },
    remove: async (key) => void (await client.send(new DeleteObjectCommand(at(key)), soon())),
    ping: async () => {
      await client.send(new HeadBucketCommand({ Bucket: options.bucket }), soon(patience.ping))
    },
    multipart: { ...s3Uploads(client, at), list: (from) => listUploads(client, options.bucket, from) },
  }
}

type Place = { Bucket: string; Key: string }

async function readObject(client: S3Client, place: Place): Promise<StoredObject | null> {
  try {
    const { Body, ContentType } = await client.send(new GetObjectCommand(place), soon())
    const body = (await Body?.transformToByteArray()) ?? new Uint8Array()
    return { body: new Uint8Array(body), contentType: ContentType ?? 'application/octet-stream' }
  } catch (error) {
    if (['NotFound', 'NoSuchKey'].includes(nameOf(error))) return null
    throw error
  }
}

function s3Uploads(client: S3Client, at: (key: string) => Place): Omit<MultipartUploads, 'list'> {
  return {
    create: async (key, contentType) => {
      const command = new CreateMultipartUploadCommand({ ...at(key), ContentType: contentType })
      const { UploadId } = await client.send(command, soon())
      if (!UploadId) throw new Error('The store opened an upload without an id.')
      return UploadId
    },
    signPart: (key, UploadId, PartNumber, seconds) =>
      getSignedUrl(client, new UploadPartCommand({ ...at(key), UploadId, PartNumber }), {
        expiresIn: seconds,
      }),
    complete: (key, uploadId, parts) => joinParts(client, { ...at(key), UploadId: uploadId }, parts),
    abort: async (key, UploadId) => {
      const command = new AbortMultipartUploadCommand({ ...at(key), UploadId })
      await client.send(command, soon()).catch((error: unknown) => {
        if (nameOf(error) !== 'NoSuchUpload') throw error
      })
    },
    head: async (key) => {
      try {
        const { ContentLength } = await client.send(new HeadObjectCommand(at(key)), soon())
        return { size: ContentLength ?? 0 }
      } catch (error) {
        if (['NotFound', 'NoSuchKey'].includes(nameOf(error))) return null
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
  const page = await client.send(new ListMultipartUploadsCommand({ Bucket, ...markers }), soon())
  const uploads = (page.Uploads ?? []).flatMap(({ Key, UploadId, Initiated }) =>
    Key && UploadId && Initiated ? [{ key: Key, uploadId: UploadId, startedAt: Initiated }] : [],
  )
  const next = page.IsTruncated ? { key: page.NextKeyMarker, uploadId: page.NextUploadIdMarker } : null
  return { uploads, next }
}

/** What S3 calls parts that will not fit together however often they are sent. */
const refusals = ['InvalidPart', 'InvalidPartOrder', 'EntityTooSmall', 'EntityTooLarge', 'MalformedXML']

async function joinParts(
  client: S3Client,
  upload: Place & { UploadId: string },
  parts: UploadedPart[],
): ReturnType<MultipartUploads['complete']> {
  const Parts = parts
    .toSorted((one, other) => one.partNumber - other.partNumber)
    .map(({ tag, partNumber }) => ({ ETag: tag, PartNumber: partNumber }))
  try {
    // Errors that S3 sends with status 200 are errors to the SDK too.
    await client.send(new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts } }), {
      ...soon(patience.join),
    })
    return 'completed'
  } catch (error) {
    if (nameOf(error) === 'NoSuchUpload') return 'gone'
    if (refusals.includes(nameOf(error))) return 'refused'
    throw error
  }
}

const nameOf = (error: unknown) => (error instanceof Error ? error.name : '')
