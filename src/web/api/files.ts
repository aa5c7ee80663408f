import { queryOptions } from '@tanstack/react-query'
import type { FileObject } from '../../surfaces/client/resources/file-object.ts'
import type { SignedUrl } from '../../surfaces/client/resources/signed-url.ts'
import { request } from './request.ts'
import { type Item, type List, rowsOf, type Wire } from './resources.ts'

export type FileEntry = Wire<typeof FileObject>

/** Entries that one request may name. */
const mostNames = 1000

const base = (server: string) => `/api/client/servers/${server}/files`

/** What a folder of a server holds. */
export const filesQuery = (server: string, directory: string) =>
  queryOptions({
    queryKey: ['files', server, directory],
    queryFn: async ({ signal }) =>
      rowsOf(await request<List<FileEntry>>('GET', `${base(server)}/list`, { query: { directory }, signal })),
  })

/** The bytes of a file. The panel records that it was read. */
export const fileBytes = (server: string, file: string, signal?: AbortSignal) =>
  request<ArrayBuffer>('GET', `${base(server)}/contents`, {
    query: { file },
    as: 'bytes',
    ...(signal ? { signal } : {}),
  })

/** The file holds this text, made or replaced. */
export const writeFile = (server: string, file: string, text: string) =>
  request<void>('POST', `${base(server)}/write`, { query: { file }, body: text })

const signedUrl = async (server: string, kind: 'upload' | 'download', file?: string) =>
  (await request<Item<Wire<typeof SignedUrl>>>('GET', `${base(server)}/${kind}`, { query: { file } }))
    .attributes.url

/** Where the node takes files: for one use. */
export const uploadUrl = (server: string) => signedUrl(server, 'upload')

/** Where the node hands a file out: for one use. */
export const downloadUrl = (server: string, file: string) => signedUrl(server, 'download', file)

/** The things are called so from now on; `to` is read from the folder. */
export const renameFiles = (server: string, root: string, files: readonly { from: string; to: string }[]) =>
  inParts(files, (part) => request<void>('PUT', `${base(server)}/rename`, { body: { root, files: part } }))

/** The things are gone for good. */
export const deleteFiles = (server: string, root: string, names: readonly string[]) =>
  inParts(names, (files) => request<void>('POST', `${base(server)}/delete`, { body: { root, files } }))

/** The things have these rights: octal digits. */
export const changeModes = (server: string, root: string, names: readonly string[], mode: string) =>
  inParts(names, (part) =>
    request<void>('POST', `${base(server)}/chmod`, {
      body: { root, files: part.map((file) => ({ file, mode })) },
    }),
  )

/** There is a copy beside the file, under a name that the node finds. */
export const copyFile = (server: string, location: string) =>
  request<void>('POST', `${base(server)}/copy`, { body: { location } })

/** The folder is there, with those above it. */
export const createFolder = (server: string, root: string, name: string) =>
  request<void>('POST', `${base(server)}/create-folder`, { body: { root, name } })

/** Packs the things into an archive beside them. */
export const packFiles = (server: string, root: string, files: readonly string[]) =>
  request<Item<FileEntry>>('POST', `${base(server)}/compress`, { body: { root, files } })

/** Unpacks an archive where it is. False when the node goes on by itself. */
export const unpackFile = async (server: string, root: string, file: string): Promise<boolean> =>
  (await request<unknown>('POST', `${base(server)}/decompress`, { body: { root, file } })) === undefined

export type Pull = {
  url: string
  directory: string
  filename: string | null
  use_header: boolean
  foreground: boolean
}

/** The node fetches a file from elsewhere. */
export const pullFile = (server: string, body: Pull) =>
  request<void>('POST', `${base(server)}/pull`, { body })

/** One request after the other, since the panel lets changes take turns. */
async function inParts<Entry>(entries: readonly Entry[], send: (part: Entry[]) => Promise<void>) {
  for (let start = 0; start < entries.length; start += mostNames) {
    // oxlint-disable-next-line no-await-in-loop -- in turn
    await send(entries.slice(start, start + mostNames))
  }
}
