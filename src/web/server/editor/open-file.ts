import { queryOptions } from '@tanstack/react-query'
import { asRequestError } from '../../api/error.ts'
import { fileBytes, type FileEntry, filesQuery } from '../../api/files.ts'
import { queryClient } from '../../api/query-client.ts'
import { isArchiveName, kindOf, maxEditableBytes, previewOf } from '../files/entries.ts'
import { nameOf, parentOf } from '../files/paths.ts'
import { readText, type TextFile } from './text-file.ts'

/** Identifies a version of a file; `hidden` when the user may not list the folder. */
export type FileStamp = { modified: string; size: number } | 'hidden' | 'missing'

type Opened =
  | { kind: 'text'; file: TextFile; stamp: FileStamp }
  | { kind: 'preview'; as: NonNullable<ReturnType<typeof previewOf>>; size: number | null }
  | { kind: 'binary' | 'packed' | 'large' | 'missing' | 'folder' | 'special' }

/**
 * A file as it was opened. It is neither refetched while it is edited nor cached, since the panel records each
 * read.
 */
export const openFileQuery = (server: string, file: string) =>
  queryOptions({
    queryKey: ['open-file', server, file],
    queryFn: ({ signal }) => openFile(server, file, signal),
    staleTime: Infinity,
    gcTime: 0,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  })

async function openFile(server: string, file: string, signal: AbortSignal): Promise<Opened> {
  // Read before the content, so that a change in between is noticed later.
  const entry = await fetchEntry(server, file)
  if (entry === null) return { kind: 'missing' }
  if (entry !== 'hidden') {
    const kind = kindOf(entry)
    if (kind === 'folder' || kind === 'special') return { kind }
  }
  const as = previewOf(nameOf(file))
  if (as) return { kind: 'preview', as, size: entry === 'hidden' ? null : entry.size }
  if (isArchiveName(file)) return { kind: 'packed' }
  if (entry !== 'hidden' && entry.size > maxEditableBytes) return { kind: 'large' }
  const text = readText(await fileBytes(server, file, signal))
  return text ? { kind: 'text', file: text, stamp: stampOf(entry) } : { kind: 'binary' }
}

/** Returns the entry of a file in its folder; null when it does not exist, `hidden` when the listing does not tell. */
async function fetchEntry(server: string, file: string): Promise<FileEntry | 'hidden' | null> {
  try {
    const { entries, isTruncated } = await queryClient.fetchQuery({
      ...filesQuery(server, parentOf(file)),
      staleTime: 0,
    })
    return entries.find(({ name }) => name === nameOf(file)) ?? (isTruncated ? 'hidden' : null)
  } catch (error) {
    const status = asRequestError(error)?.status
    if (status === 403) return 'hidden'
    if (status === 404) return null
    throw error
  }
}

function stampOf(entry: FileEntry | 'hidden' | null): FileStamp {
  if (entry === null) return 'missing'
  return entry === 'hidden' ? entry : { modified: entry.modified_at, size: entry.size }
}

/** Returns the current version of a file. */
export const currentStamp = async (server: string, file: string): Promise<FileStamp> =>
  stampOf(await fetchEntry(server, file))
