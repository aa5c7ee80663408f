import { queryOptions } from '@tanstack/react-query'
import { asRequestError } from '../../api/error.ts'
import { fileBytes, type FileEntry, filesQuery } from '../../api/files.ts'
import { queryClient } from '../../api/query-client.ts'
import { editableBytes, kindOf } from '../files/entries.ts'
import { nameOf, parentOf } from '../files/paths.ts'
import { readText, type TextFile } from './text-file.ts'

/** What tells whether a file is still as it was; `hidden` where the reader may not look into the folder. */
export type Stamp = { modified: string; size: number } | 'hidden' | 'missing'

type Opened =
  | { kind: 'text'; file: TextFile; stamp: Stamp }
  | { kind: 'binary' | 'large' | 'missing' | 'folder' | 'special' }

/**
 * A file as it was when it was opened. It is never fetched behind the back of whoever edits it, nor kept, and the
 * panel records each reading.
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
  // Before the text: a change that comes between the two is noticed.
  const entry = await lookAt(server, file)
  if (entry === null) return { kind: 'missing' }
  if (entry !== 'hidden') {
    const kind = kindOf(entry)
    if (kind === 'folder' || kind === 'special') return { kind }
    if (entry.size > editableBytes) return { kind: 'large' }
  }
  const text = readText(await fileBytes(server, file, signal))
  return text ? { kind: 'text', file: text, stamp: stampOf(entry) } : { kind: 'binary' }
}

/** A file as its folder tells now; null when it is not there. */
async function lookAt(server: string, file: string): Promise<FileEntry | 'hidden' | null> {
  try {
    const entries = await queryClient.fetchQuery({ ...filesQuery(server, parentOf(file)), staleTime: 0 })
    return entries.find(({ name }) => name === nameOf(file)) ?? null
  } catch (error) {
    const status = asRequestError(error)?.status
    if (status === 403) return 'hidden'
    if (status === 404) return null
    throw error
  }
}

function stampOf(entry: FileEntry | 'hidden' | null): Stamp {
  if (entry === null) return 'missing'
  return entry === 'hidden' ? entry : { modified: entry.modified_at, size: entry.size }
}

/** How a file is now. */
export const currentStamp = async (server: string, file: string): Promise<Stamp> =>
  stampOf(await lookAt(server, file))
