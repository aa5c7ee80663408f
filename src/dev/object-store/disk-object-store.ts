import { buffer } from 'node:stream/consumers'
import type { ObjectStore } from '../../adapters/objects.ts'
import { type LinkOptions, signLink } from './links.ts'
import {
  findObject,
  openObjectFiles,
  readObject,
  receiveBody,
  removeObject,
  storeObject,
  tryWriting,
  type ObjectFiles,
} from './object-files.ts'
import { RequestError } from './request-error.ts'
import { answerRequest } from './requests.ts'
import { abortUpload, completeUpload, createUpload, listUploads } from './uploads.ts'

export type DiskObjectStoreOptions = {
  /** The folder that holds everything. */
  directory: string
  /** The address at which `handleRequest` is reached, with a path and without a slash at its end. */
  url: string
  /** Signs the links; they stay valid as long as it is the same. */
  secret: string
  /** Is given what goes wrong while a request is answered; the request is answered with 500. */
  onError: (error: unknown) => void
  /** Milliseconds since 1970; the machine's clock by default. */
  now?: () => number
}

export type DiskObjectStore = {
  store: Required<ObjectStore>
  /** Answers requests for signed links. */
  handleRequest: (request: Request) => Promise<Response>
}

/**
 * Opens an object store in a folder of this machine. The panel reads and writes the folder itself; browsers and
 * daemons read objects and send parts through links that are signed with HMAC-SHA256.
 */
export async function openDiskObjectStore(options: DiskObjectStoreOptions): Promise<DiskObjectStore> {
  const files = await openObjectFiles(options.directory)
  const links: LinkOptions = { url: options.url, secret: options.secret, now: options.now ?? Date.now }
  return {
    store: createStore(files, links),
    handleRequest: async (request) => {
      try {
        return await answerRequest(files, links, request)
      } catch (error) {
        if (error instanceof RequestError) return refuse(error.status, error.message)
        options.onError(error)
        if (hasCode(error, ['EROFS', 'EIO'])) return refuse(503, 'The disk of the object store is read-only.')
        if (hasCode(error, ['ENOSPC', 'EDQUOT']))
          return refuse(507, 'The object store has no disk space left.')
        return new Response('The object store failed.\n', { status: 500 })
      }
    },
  }
}

/** Answers with a sentence. A body that was not read to its end cannot be followed by another request. */
const refuse = (status: number, sentence: string) =>
  new Response(`${sentence}\n`, { status, ...(status === 408 ? { headers: { connection: 'close' } } : {}) })

const hasCode = (error: unknown, codes: string[]): boolean =>
  codes.includes((error as NodeJS.ErrnoException).code ?? '')

function createStore(files: ObjectFiles, links: LinkOptions): Required<ObjectStore> {
  return {
    put: (key, body, contentType) =>
      receiveBody(files, [body], null, (received) => storeObject(files, key, contentType, received)),
    get: (key) =>
      files.mutex.run(key, async () => {
        const record = await findObject(files, key)
        if (!record) return null
        const body = new Uint8Array(await buffer(readObject(files, record)))
        return { body, contentType: record.contentType }
      }),
    signedUrl: async (key, seconds, contentType) =>
      signLink(links, 'GET', key, seconds, contentType === undefined ? {} : { contentType }),
    remove: (key) => removeObject(files, key),
    ping: () => tryWriting(files),
    multipart: {
      create: (key, contentType) => createUpload(files, key, contentType),
      signPart: async (key, uploadId, partNumber, seconds) =>
        signLink(links, 'PUT', key, seconds, { uploadId, partNumber: String(partNumber) }),
      complete: (key, uploadId, parts) => completeUpload(files, key, uploadId, parts),
      abort: (key, uploadId) => abortUpload(files, key, uploadId),
      head: async (key) => {
        const record = await findObject(files, key)
        return record && { size: record.size }
      },
      list: async () => {
        const uploads = await listUploads(files)
        return {
          uploads: uploads.map(({ key, id, initiated }) => ({
            key,
            uploadId: id,
            startedAt: new Date(initiated),
          })),
          next: null,
        }
      },
    },
  }
}
