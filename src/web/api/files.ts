import { queryOptions } from '@tanstack/react-query'
import type { FileObject } from '../../surfaces/client/resources/file-object.ts'
import { abortedBy, done, json, serverApi } from './client.ts'
import { attributesOf, type AttributesOf, rowsOf } from './resources.ts'

export type FileEntry = AttributesOf<typeof FileObject>

/** The panel accepts at most this many entries in one request. */
const maxEntriesPerRequest = 1000

const { files } = serverApi

/** A folder as the panel lists it; truncated when it has more entries than these. */
export type Folder = { entries: FileEntry[]; isTruncated: boolean }

/** Lists a folder. */
export async function listFolder(server: string, directory: string, signal?: AbortSignal): Promise<Folder> {
  const list = await json(files.list.$get({ param: { server }, query: { directory } }, abortedBy(signal)))
  return { entries: rowsOf(list), isTruncated: list.meta?.truncated === true }
}

/** A folder of a server. */
export const filesQuery = (server: string, directory: string) =>
  queryOptions({
    queryKey: ['files', server, directory],
    queryFn: ({ signal }) => listFolder(server, directory, signal),
  })

/** Reads the bytes of a file. The panel records that it was read. */
export async function fileBytes(server: string, file: string, signal?: AbortSignal): Promise<ArrayBuffer> {
  const answer = await files.contents.$get({ param: { server }, query: { file } }, abortedBy(signal))
  return answer.arrayBuffer()
}

/** Writes a text to a file, which is created or replaced. */
export const writeFile = (server: string, file: string, text: string) =>
  done(
    files.write.$post(
      { param: { server }, query: { file } },
      { init: { body: text, headers: { 'content-type': 'text/plain' } } },
    ),
  )

/** Returns the address of the node to which files can be uploaded once. */
export const uploadUrl = async (server: string): Promise<string> =>
  (await json(files.upload.$get({ param: { server } }))).attributes.url

/** Returns the address of the node from which a file can be downloaded once. */
export const downloadUrl = async (server: string, file: string): Promise<string> =>
  (await json(files.download.$get({ param: { server }, query: { file } }))).attributes.url

/** Renames or moves entries; `from` and `to` are relative to `root`. */
export const renameFiles = (server: string, root: string, entries: readonly { from: string; to: string }[]) =>
  inBatches(entries, (batch) => files.rename.$put({ param: { server }, json: { root, files: batch } }))

/** Deletes entries permanently. */
export const deleteFiles = (server: string, root: string, names: readonly string[]) =>
  inBatches(names, (batch) => files.delete.$post({ param: { server }, json: { root, files: batch } }))

/** Sets the permissions of entries, in octal digits. */
export const changeModes = (server: string, root: string, names: readonly string[], mode: string) =>
  inBatches(names, (batch) =>
    files.chmod.$post({ param: { server }, json: { root, files: batch.map((file) => ({ file, mode })) } }),
  )

/** Copies a file beside itself, under a name that the node chooses. */
export const copyFile = (server: string, location: string) =>
  done(files.copy.$post({ param: { server }, json: { location } }))

/** Creates a folder, with its parents. */
export const createFolder = (server: string, root: string, name: string) =>
  done(files['create-folder'].$post({ param: { server }, json: { root, name } }))

/** Packs entries into an archive beside them. */
export const packFiles = (server: string, root: string, names: readonly string[]): Promise<FileEntry> =>
  json(files.compress.$post({ param: { server }, json: { root, files: [...names] } })).then(attributesOf)

/** Unpacks an archive into its folder. Returns false when the node goes on in the background. */
export const unpackFile = async (server: string, root: string, file: string): Promise<boolean> =>
  (await files.decompress.$post({ param: { server }, json: { root, file } })).status === 204

export type Pull = {
  url: string
  directory: string
  filename: string | null
  use_header: boolean
  foreground: boolean
}

/** Makes the node download a file from an address. */
export const pullFile = (server: string, form: Pull) =>
  done(files.pull.$post({ param: { server }, json: form }))

/** Sends one request after the other: the panel makes changes to the files of a server one at a time. */
async function inBatches<Entry>(entries: readonly Entry[], sendBatch: (batch: Entry[]) => Promise<unknown>) {
  for (let start = 0; start < entries.length; start += maxEntriesPerRequest) {
    // oxlint-disable-next-line no-await-in-loop -- the panel changes the files of a server one at a time
    await sendBatch(entries.slice(start, start + maxEntriesPerRequest))
  }
}
