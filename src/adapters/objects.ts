import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  PutObjectCommand,
  S3Client,
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
}

export type S3Options = {
  bucket: string
  region: string
  accessKeyId: string
  secretAccessKey: string
  /** Null is AWS itself. */
  endpoint: string | null
  pathStyle: boolean
}

/** The store over an S3-compatible service. */
export function s3ObjectStore(options: S3Options): ObjectStore {
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
  }
}
