import { asRequestError } from '../../api/error.ts'
import { createFolder, uploadUrl } from '../../api/files.ts'
import { queryClient } from '../../api/query-client.ts'
import { sendForm } from './send-form.ts'
import { createPace } from './transfer-pace.ts'
import { openTray } from './tray-open.ts'

/** A file and its target folder; `isNewFolder` when the folder may have to be created first. */
export type ChosenFile = { file: File; directory: string; isNewFolder: boolean }

export type UploadState = 'waiting' | 'sending' | 'done' | 'failed' | 'cancelled'
export type Upload = ChosenFile & {
  id: number
  state: UploadState
  /** Bytes that have been sent. */
  sent: number
  /** Why it failed, or `late` when it was cancelled too late to be sure: an error of the panel, or the key of a text. */
  failure: { text: string } | { name: 'unreachable' | 'protected' | 'refused' | 'late' } | null
}

const maxConcurrentForms = 3
/** Small files of one folder share a form: an upload address is valid for one form, and its route is throttled. */
const maxFilesPerForm = 20
const maxBytesPerForm = 4 * 1024 * 1024
/** How long to wait after a 429 without `Retry-After`. */
const cooldownMs = 10_000

/** The uploads in one form; `isSent` once the node has all bytes, and only its answer is missing. */
type Batch = { ids: number[]; abort: AbortController; isSent: boolean }

const queues = new Map<string, UploadQueue>()
/** The queues with uploads; a new list after each change. */
let activeQueues: readonly UploadQueue[] = []
const subscribers = new Set<() => void>()

/** Returns the upload queue of a server, which continues while other pages are open. */
export function uploadsTo(server: string, serverName: string): UploadQueue {
  const known = queues.get(server) ?? new UploadQueue(server, serverName)
  queues.set(server, known)
  return known
}

/** The queues of all servers that have uploads, as an external store. */
export const uploadQueues = {
  getSnapshot: (): readonly UploadQueue[] => activeQueues,
  subscribe: (subscriber: () => void): (() => void) => {
    subscribers.add(subscriber)
    return () => subscribers.delete(subscriber)
  },
}

/**
 * Uploads files directly to the server's node, several at a time. A node takes a form as a whole, so a file that was
 * interrupted is sent from its beginning. Wings: POST /upload/file.
 */
export class UploadQueue {
  readonly #server: string
  readonly serverName: string
  readonly pace = createPace()
  #isPaused = false
  #uploads: readonly Upload[] = []
  #lastId = 0
  #resumesAt = 0
  readonly #batches = new Set<Batch>()
  readonly #folders = new Map<string, Promise<void>>()

  constructor(server: string, serverName: string) {
    this.#server = server
    this.serverName = serverName
  }

  get uploads(): readonly Upload[] {
    return this.#uploads
  }

  get isPaused(): boolean {
    return this.#isPaused
  }

  add(chosen: readonly ChosenFile[]): void {
    const added = chosen.map((each): Upload => {
      this.#lastId += 1
      return { ...each, id: this.#lastId, state: 'waiting', sent: 0, failure: null }
    })
    openTray()
    this.#endOldPause()
    this.#set([...this.#uploads, ...added])
    this.#startBatches()
  }

  /** A pause ends with the uploads that it held back; new ones do not wait for it. */
  #endOldPause(): void {
    if (!this.#uploads.some(isPending)) this.#isPaused = false
  }

  /** Starts no further files, or goes on. Files that are being sent are sent to their end. */
  setPaused(isPaused: boolean): void {
    this.#isPaused = isPaused
    this.#set(this.#uploads)
    this.#startBatches()
  }

  /**
   * Cancels uploads. The other uploads of their form are sent again. A node that has all bytes of a form writes its
   * files whether the browser waits or not, and the upload says so.
   */
  cancel(...ids: number[]): void {
    const aborted = [...this.#batches].filter((batch) => batch.ids.some((id) => ids.includes(id)))
    const lateIds = new Set(aborted.flatMap((batch) => (batch.isSent ? batch.ids : [])))
    this.#update(ids, (upload) => {
      if (!isPending(upload)) return upload
      return { ...upload, state: 'cancelled', failure: lateIds.has(upload.id) ? { name: 'late' } : null }
    })
    for (const batch of aborted) batch.abort.abort()
  }

  retry(id: number): void {
    this.#endOldPause()
    this.#update([id], (upload) => ({ ...upload, state: 'waiting', sent: 0, failure: null }))
    this.#startBatches()
  }

  /** Removes finished uploads from the list. */
  clear(): void {
    this.#set(this.#uploads.filter(isPending))
  }

  #startBatches(): void {
    if (this.#isPaused || Date.now() < this.#resumesAt) return
    while (this.#batches.size < maxConcurrentForms) {
      const ids = this.#nextBatch()
      if (ids.length === 0) return
      const batch: Batch = { ids, abort: new AbortController(), isSent: false }
      this.#batches.add(batch)
      this.#update(ids, (upload) => ({ ...upload, state: 'sending' }))
      void this.#send(batch).finally(() => {
        this.#batches.delete(batch)
        this.#startBatches()
      })
    }
  }

  #nextBatch(): number[] {
    const waiting = this.#uploads.filter(({ state }) => state === 'waiting')
    const [first, ...others] = waiting
    if (!first) return []
    const batch = [first]
    let size = first.file.size
    for (const other of others) {
      size += other.file.size
      if (batch.length === maxFilesPerForm || size > maxBytesPerForm) break
      const isSameName = batch.some(({ file }) => file.name === other.file.name)
      if (other.directory !== first.directory || isSameName) break
      batch.push(other)
    }
    return batch.map(({ id }) => id)
  }

  async #send(batch: Batch): Promise<void> {
    const uploads = this.#uploads.filter(({ id }) => batch.ids.includes(id))
    const [first] = uploads
    if (!first) return
    try {
      if (first.isNewFolder) await this.#createFolderOnce(first.directory)
      const url = new URL(await uploadUrl(this.#server))
      url.searchParams.set('directory', first.directory)
      const files = uploads.map(({ file }) => file)
      const size = files.reduce((sum, file) => sum + file.size, 0)
      const status = await sendForm(url, files, batch.abort.signal, (sent) => {
        batch.isSent = sent >= size
        this.#progress(uploads, sent)
      })
      this.#finish(batch, status)
    } catch (error) {
      this.#fail(batch, error)
    }
    await queryClient.invalidateQueries({ queryKey: ['files', this.#server] })
  }

  /** Creates each folder once; after a failure the next upload tries again. */
  #createFolderOnce(directory: string): Promise<void> {
    const known = this.#folders.get(directory)
    if (known) return known
    const creation = createFolder(this.#server, '/', directory)
    this.#folders.set(directory, creation)
    const forget = () => this.#folders.delete(directory)
    // A folder that is deleted meanwhile is created again by later uploads.
    creation.then(() => setTimeout(forget, cooldownMs), forget)
    return creation
  }

  /** Files are sent in order, so the number of sent bytes tells which files are complete. */
  #progress(uploads: readonly Upload[], sent: number): void {
    let remaining = sent
    const before = this.#uploads.filter(({ id }) => uploads.some((upload) => upload.id === id))
    const sentBefore = before.reduce((sum, upload) => sum + upload.sent, 0)
    const sentOf = new Map<number, number>()
    for (const { id, file } of uploads) {
      sentOf.set(id, Math.min(remaining, file.size))
      remaining = Math.max(0, remaining - file.size)
    }
    const sentNow = [...sentOf.values()].reduce((sum, bytes) => sum + bytes, 0)
    this.pace.add(sentNow - sentBefore, Date.now())
    this.#update([...sentOf.keys()], (upload) => ({ ...upload, sent: sentOf.get(upload.id) ?? 0 }))
  }

  #finish({ ids }: Batch, status: number): void {
    this.#update(ids, (upload) => {
      if (upload.state !== 'sending') return upload
      if (status === 200) return { ...upload, state: 'done', sent: upload.file.size }
      const name = status === 0 ? 'unreachable' : status === 403 ? 'protected' : 'refused'
      return { ...upload, state: 'failed', failure: { name } }
    })
  }

  #fail({ ids, abort }: Batch, error: unknown): void {
    const requestError = asRequestError(error)
    if (requestError?.status === 429) {
      const wait = requestError.retryAfter ? requestError.retryAfter * 1000 : cooldownMs
      this.#resumesAt = Date.now() + wait
      setTimeout(() => this.#startBatches(), wait + 1)
    }
    const isDelayed = abort.signal.aborted || requestError?.status === 429
    this.#update(ids, (upload) => {
      if (upload.state !== 'sending') return upload
      if (isDelayed) return { ...upload, state: 'waiting', sent: 0 }
      const failure = requestError?.message
        ? { text: requestError.message }
        : ({ name: 'unreachable' } as const)
      return { ...upload, state: 'failed', failure }
    })
  }

  #update(ids: readonly number[], change: (upload: Upload) => Upload): void {
    const changed = new Set(ids)
    this.#set(this.#uploads.map((upload) => (changed.has(upload.id) ? change(upload) : upload)))
  }

  #set(uploads: readonly Upload[]): void {
    this.#uploads = uploads
    activeQueues = [...queues.values()].filter((queue) => queue.uploads.length > 0)
    for (const subscriber of subscribers) subscriber()
  }
}

/** Whether an upload is waiting or being sent. */
export const isPending = ({ state }: Upload): boolean => state === 'waiting' || state === 'sending'
