import { asRequestError } from '../../api/error.ts'
import type { FileEntry, Folder } from '../../api/files.ts'
import { kindOf } from './entries.ts'
import { joinPath } from './paths.ts'

/** Limits of one search: each folder is a request to the panel and a listing at the node. */
export const searchLimits = { maxFolders: 400, maxDepth: 16, maxFound: 200 }
/** How long to wait after a 429 without `Retry-After`, and how often. */
const cooldownMs = 3000
const maxCooldowns = 20

/** An entry whose name contains the text, with the folder that it is in. */
export type Found = { directory: string; entry: FileEntry }

/** How far a search is; `end` says why it is over. */
export type SearchProgress = {
  found: readonly Found[]
  folders: number
  /** Folders that could not be read, or not to their end. */
  unreadable: number
  end: 'complete' | 'limited' | 'stopped' | null
}

type Search = {
  directory: string
  text: string
  list: (directory: string) => Promise<Folder>
  signal: AbortSignal
  onProgress: (progress: SearchProgress) => void
}

/**
 * Searches names in a folder and the folders below, nearest first, one folder after the other as nodes list them.
 * Links are not followed.
 */
export async function searchFolders({ directory, text, list, signal, onProgress }: Search): Promise<void> {
  const wanted = text.toLowerCase()
  const queue = [{ path: directory, depth: 0 }]
  let progress: SearchProgress = { found: [], folders: 0, unreadable: 0, end: null }
  const report = (change: Partial<SearchProgress>) => onProgress((progress = { ...progress, ...change }))
  for (const { path, depth } of queue) {
    if (progress.folders === searchLimits.maxFolders) return report({ end: 'limited' })
    // oxlint-disable-next-line no-await-in-loop -- a server lists one folder at a time
    const folder = await listPatiently(() => list(path), signal)
    if (signal.aborted) return report({ end: 'stopped' })
    const entries = folder?.entries ?? []
    const matching = entries.filter(({ name }) => name.toLowerCase().includes(wanted))
    const found = [...progress.found, ...matching.map((entry) => ({ directory: path, entry }))]
    report({
      found: found.slice(0, searchLimits.maxFound),
      folders: progress.folders + 1,
      unreadable: progress.unreadable + Number(folder === null || folder.isTruncated),
    })
    if (found.length > searchLimits.maxFound) return report({ end: 'limited' })
    if (depth < searchLimits.maxDepth)
      for (const entry of entries)
        if (kindOf(entry) === 'folder') queue.push({ path: joinPath(path, entry.name), depth: depth + 1 })
  }
  report({ end: 'complete' })
}

/** Lists a folder, and waits when there were too many requests; null when it cannot be listed. */
async function listPatiently(list: () => Promise<Folder>, signal: AbortSignal): Promise<Folder | null> {
  for (let cooldowns = 0; !signal.aborted; cooldowns += 1) {
    try {
      // oxlint-disable-next-line no-await-in-loop -- tried again only after a refusal
      return await list()
    } catch (error) {
      const refusal = asRequestError(error)
      if (refusal?.status !== 429 || cooldowns === maxCooldowns) return null
      const wait = refusal.retryAfter ? refusal.retryAfter * 1000 : cooldownMs
      // oxlint-disable-next-line no-await-in-loop -- see above
      await waitFor(wait, signal)
    }
  }
  return null
}

const waitFor = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds)
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer)
        resolve()
      },
      { once: true },
    )
  })
