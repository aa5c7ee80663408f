import { asRequestError } from '../../api/error.ts'
import { createFolder, uploadUrl } from '../../api/files.ts'
import { queryClient } from '../../api/query-client.ts'
import { sendForm } from './send-form.ts'

/** A file and its target folder; `isNewFolder` when the folder may have to be created first. */
export type ChosenFile = { file: File; directory: string; isNewFolder: boolean }

export type UploadState = 'waiting' | 'sending' | 'done' | 'failed' | 'cancelled'
export type Upload = ChosenFile & {
  id: number
  state: UploadState
  /** Bytes that have been sent. */
  sent: number
  /** Why it failed: an error of the panel, or the key of a text. */
  failure: { text: string } | { name: 'unreachable' | 'protected' | 'refused' } | null
}

const maxConcurrentForms = 3
/** Small files of one folder share a form: an upload address is valid for one form, and its route is throttled. */
const maxFilesPerForm = 20
const maxBytesPerForm = 4 * 1024 * 1024
/** How long to wait after a 429 without `Retry-After`. */
const cooldownMs = 10_000

/** The uploads in one form. */
type Batch = { ids: number[]; abort: AbortController }

const queues = new Map<string, UploadQueue>()

/** Returns the upload queue of a server, which continues while other pages are open. */
export function uploadsTo(server: string): UploadQueue {
  const known = queues.get(server) ?? new UploadQueue(server)
  queues.set(server, known)
  return known
}

/** Uploads files directly to the server's node, several at a time. Wings: POST /upload/file. */
export class UploadQueue {
  readonly #server: string
  #uploads: readonly Upload[] = []
  #lastId = 0
  #resumesAt = 0
  readonly #batches = new Set<Batch>()
  readonly #folders = new Map<string, Promise<void>>()
  readonly #subscribers = new Set<() => void>()

  constructor(server: string) {
    this.#server = server
  }

  readonly getSnapshot = (): readonly Upload[] => this.#uploads

  readonly subscribe = (subscriber: () => void): (() => void) => {
    this.#subscribers.add(subscriber)
    return () => this.#subscribers.delete(subscriber)
  }

  add(chosen: readonly ChosenFile[]): void {
    const added = chosen.map((each): Upload => {
      this.#lastId += 1
      return { ...each, id: this.#lastId, state: 'waiting', sent: 0, failure: null }
    })
    this.#set([...this.#uploads, ...added])
    this.#startBatches()
  }

  /** Cancels uploads. The other uploads of their form are sent again. */
  cancel(...ids: number[]): void {
    this.#update(ids, (upload) => (isPending(upload) ? { ...upload, state: 'cancelled' } : upload))
    for (const batch of this.#batches) {
      if (batch.ids.some((id) => ids.includes(id))) batch.abort.abort()
    }
  }

  retry(id: number): void {
    this.#update([id], (upload) => ({ ...upload, state: 'waiting', sent: 0, failure: null }))
    this.#startBatches()
  }

  /** Removes finished uploads from the list. */
  clear(): void {
    this.#set(this.#uploads.filter(isPending))
  }

  #startBatches(): void {
    if (Date.now() < this.#resumesAt) return
    while (this.#batches.size < maxConcurrentForms) {
      const ids = this.#nextBatch()
      if (ids.length === 0) return
      const batch = { ids, abort: new AbortController() }
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
      const status = await sendForm(url, files, batch.abort.signal, (sent) => this.#progress(uploads, sent))
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
    const sentOf = new Map<number, number>()
    for (const { id, file } of uploads) {
      sentOf.set(id, Math.min(remaining, file.size))
      remaining = Math.max(0, remaining - file.size)
    }
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
    for (const subscriber of this.#subscribers) subscriber()
  }
}

/** Whether an upload is waiting or being sent. */
export const isPending = ({ state }: Upload): boolean => state === 'waiting' || state === 'sending'
