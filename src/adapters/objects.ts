import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'

/** A store of named byte strings. */
export type ObjectStore = {
  put: (key: string, body: Uint8Array, contentType: string) => Promise<void>
  /** A link by which anybody may read the object for `seconds`. */
  signedUrl: (key: string, seconds: number) => Promise<string>
  /** Nothing is there afterwards; nothing being there before is fine. */
  remove: (key: string) => Promise<void>
  /** Throws when the store cannot be reached. */
  ping: () => Promise<void>
  /** Left out where the store takes objects in one piece only. */
  multipart?: MultipartUploads
}

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
}

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
}

/** Milliseconds for joining parts, and for anything else about an upload: daemons wait 30 seconds for both. */
const patience = { join: 18_000, other: 8_000 }

/** The store over an S3-compatible service. */
export function s3ObjectStore(options: S3Options): Required<ObjectStore> {
  const client = new S3Client({
    region: options.region,
    credentials: { accessKeyId: options.accessKeyId, secretAccessKey: options.secretAccessKey },
    ...(options.endpoint ? { endpoint: options.endpoint } : {}),
    forcePathStyle: options.pathStyle,
    // The SDK's default puts the checksum of an empty body into presigned URLs, which real stores refuse.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  })
  const at = (key: string) => ({ Bucket: options.bucket, Key: key })
  return {
    put: async (key, body, contentType) =>
      void (await client.send(new PutObjectCommand({ ...at(key), Body: body, ContentType: contentType }))),
    signedUrl: (key, seconds) => getSignedUrl(client, new GetObjectCommand(at(key)), { expiresIn: seconds }),
    remove: async (key) => void (await client.send(new DeleteObjectCommand(at(key)))),
    ping: async () => void (await client.send(new HeadBucketCommand({ Bucket: options.bucket }))),
    multipart: s3Uploads(client, at),
  }
}

type Place = { Bucket: string; Key: string }

function s3Uploads(client: S3Client, at: (key: string) => Place): MultipartUploads {
  const soon = () => ({ abortSignal: AbortSignal.timeout(patience.other) })
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
      abortSignal: AbortSignal.timeout(patience.join),
    })
    return 'completed'
  } catch (error) {
    if (nameOf(error) === 'NoSuchUpload') return 'gone'
    if (refusals.includes(nameOf(error))) return 'refused'
    throw error
  }
}

const nameOf = (error: unknown) => (error instanceof Error ? error.name : '')
