import { asRequestError } from '../../api/error.ts'
import { createFolder, uploadUrl } from '../../api/files.ts'
import { queryClient } from '../../api/query-client.ts'
import { sendForm } from './send-form.ts'

/** A file, and the folder into which it goes; `isNewFolder` when that may have to be made first. */
export type Chosen = { file: File; directory: string; isNewFolder: boolean }

export type UploadState = 'waiting' | 'sending' | 'done' | 'failed' | 'cancelled'
export type Upload = Chosen & {
  id: number
  state: UploadState
  /** Bytes that have left. */
  sent: number
  /** Why it failed: the panel's sentence, or the name of a text. */
  failure: { text: string } | { name: 'unreachable' | 'protected' | 'refused' } | null
}

const atOnce = 3
/** Small files of one folder travel together, since each address is good for one form and there are few a minute. */
const mostTogether = 20
const bytesTogether = 4 * 1024 * 1024
/** Milliseconds of rest when the panel asks for one and does not say how long. */
const rest = 10_000

/** What one form carries. */
type Batch = { ids: number[]; abort: AbortController }

const queues = new Map<string, UploadQueue>()

/** The uploads to a server: they go on while other pages are shown. */
export function uploadsTo(server: string): UploadQueue {
  const known = queues.get(server) ?? new UploadQueue(server)
  queues.set(server, known)
  return known
}

/** Sends files straight to the server's node, some at a time. Wings: POST /upload/file. */
export class UploadQueue {
  readonly #server: string
  #uploads: readonly Upload[] = []
  #lastId = 0
  #resumesAt = 0
  readonly #batches = new Set<Batch>()
  readonly #folders = new Map<string, Promise<void>>()
  readonly #watchers = new Set<() => void>()

  constructor(server: string) {
    this.#server = server
  }

  readonly snapshot = (): readonly Upload[] => this.#uploads

  readonly watch = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher)
    return () => this.#watchers.delete(watcher)
  }

  add(chosen: readonly Chosen[]): void {
    const added = chosen.map((each): Upload => {
      this.#lastId += 1
      return { ...each, id: this.#lastId, state: 'waiting', sent: 0, failure: null }
    })
    this.#set([...this.#uploads, ...added])
    this.#fill()
  }

  /** It will not be sent; what travels with it is sent again without it. */
  cancel(...ids: number[]): void {
    this.#change(ids, (upload) => (isOpen(upload) ? { ...upload, state: 'cancelled' } : upload))
    for (const batch of this.#batches) {
      if (batch.ids.some((id) => ids.includes(id))) batch.abort.abort()
    }
  }

  retry(id: number): void {
    this.#change([id], (upload) => ({ ...upload, state: 'waiting', sent: 0, failure: null }))
    this.#fill()
  }

  /** What is over is not shown any more. */
  clear(): void {
    this.#set(this.#uploads.filter(isOpen))
  }

  #fill(): void {
    if (Date.now() < this.#resumesAt) return
    while (this.#batches.size < atOnce) {
      const ids = this.#next()
      if (ids.length === 0) return
      const batch = { ids, abort: new AbortController() }
      this.#batches.add(batch)
      this.#change(ids, (upload) => ({ ...upload, state: 'sending' }))
      void this.#send(batch).finally(() => {
        this.#batches.delete(batch)
        this.#fill()
      })
    }
  }

  #next(): number[] {
    const waiting = this.#uploads.filter(({ state }) => state === 'waiting')
    const [first, ...others] = waiting
    if (!first) return []
    const together = [first]
    let size = first.file.size
    for (const other of others) {
      size += other.file.size
      if (together.length === mostTogether || size > bytesTogether) break
      const isSameName = together.some(({ file }) => file.name === other.file.name)
      if (other.directory !== first.directory || isSameName) break
      together.push(other)
    }
    return together.map(({ id }) => id)
  }

  async #send(batch: Batch): Promise<void> {
    const uploads = this.#uploads.filter(({ id }) => batch.ids.includes(id))
    const [first] = uploads
    if (!first) return
    try {
      if (first.isNewFolder) await this.#makeFolder(first.directory)
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

  /** Each folder is made once; where that failed, the next file tries again. */
  #makeFolder(directory: string): Promise<void> {
    const known = this.#folders.get(directory)
    if (known) return known
    const made = createFolder(this.#server, '/', directory)
    this.#folders.set(directory, made)
    const forget = () => this.#folders.delete(directory)
    // A folder that was removed meanwhile is made anew by what is uploaded later.
    made.then(() => setTimeout(forget, rest), forget)
    return made
  }

  /** Forms are sent in order: what of all bytes has left tells which files are through. */
  #progress(uploads: readonly Upload[], sent: number): void {
    let left = sent
    const sentOf = new Map<number, number>()
    for (const { id, file } of uploads) {
      sentOf.set(id, Math.min(left, file.size))
      left = Math.max(0, left - file.size)
    }
    this.#change([...sentOf.keys()], (upload) => ({ ...upload, sent: sentOf.get(upload.id) ?? 0 }))
  }

  #finish({ ids }: Batch, status: number): void {
    this.#change(ids, (upload) => {
      if (upload.state !== 'sending') return upload
      if (status === 200) return { ...upload, state: 'done', sent: upload.file.size }
      const name = status === 0 ? 'unreachable' : status === 403 ? 'protected' : 'refused'
      return { ...upload, state: 'failed', failure: { name } }
    })
  }

  #fail({ ids, abort }: Batch, error: unknown): void {
    const refusal = asRequestError(error)
    if (refusal?.status === 429) {
      const wait = refusal.retryAfter ? refusal.retryAfter * 1000 : rest
      this.#resumesAt = Date.now() + wait
      setTimeout(() => this.#fill(), wait + 1)
    }
    const isLater = abort.signal.aborted || refusal?.status === 429
    this.#change(ids, (upload) => {
      if (upload.state !== 'sending') return upload
      if (isLater) return { ...upload, state: 'waiting', sent: 0 }
      const failure = refusal?.message ? { text: refusal.message } : ({ name: 'unreachable' } as const)
      return { ...upload, state: 'failed', failure }
    })
  }

  #change(ids: readonly number[], change: (upload: Upload) => Upload): void {
    const touched = new Set(ids)
    this.#set(this.#uploads.map((upload) => (touched.has(upload.id) ? change(upload) : upload)))
  }

  #set(uploads: readonly Upload[]): void {
    this.#uploads = uploads
    for (const watcher of this.#watchers) watcher()
  }
}

/** Whether it is still to be sent, or on its way. */
export const isOpen = ({ state }: Upload): boolean => state === 'waiting' || state === 'sending'
