import { beforeEach, describe, expect, it, vi } from 'vitest'
import {
  isPending,
  uploadQueues,
  type UploadQueue,
  uploadsTo,
} from '../../src/web/server/files/upload-queue.ts'

/** A form that the node is receiving. */
type Form = { names: string[]; progress: (sent: number) => void; answer: (status: number) => void }
const forms = vi.hoisted((): Form[] => [])

vi.mock('../../src/web/api/files.ts', () => ({
  uploadUrl: () => Promise.resolve('https://node.example/upload/file?token=t'),
  createFolder: () => Promise.resolve(),
}))
vi.mock('../../src/web/api/query-client.ts', () => ({
  queryClient: { invalidateQueries: () => Promise.resolve() },
}))
vi.mock('../../src/web/server/files/send-form.ts', () => ({
  sendForm: (_url: URL, files: File[], signal: AbortSignal, onProgress: (sent: number) => void) =>
    new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('aborted')))
      forms.push({ names: files.map(({ name }) => name), progress: onProgress, answer: resolve })
    }),
}))

const kibibyte = 1024
const mebibyte = 1024 * kibibyte
let queue: UploadQueue
let count = 0

beforeEach(() => {
  forms.length = 0
  count += 1
  queue = uploadsTo(`server-${count}`, 'A server')
})

const add = (size: number, ...names: string[]) =>
  queue.add(
    names.map((name) => ({
      file: new File([new Uint8Array(size)], name),
      directory: '/',
      isNewFolder: false,
    })),
  )
const states = () => queue.uploads.map(({ file, state, failure }) => [file.name, state, failure])
const formsSent = (number: number) => vi.waitFor(() => expect(forms).toHaveLength(number))

describe('cancelling an upload', () => {
  it('leaves nothing behind while it is being sent, and sends the others of its form again', async () => {
    add(10 * kibibyte, 'a', 'b')
    await formsSent(1)
    forms[0]?.progress(5 * kibibyte)
    queue.cancel(queue.uploads[0]?.id ?? 0)
    await formsSent(2)
    expect(forms.map(({ names }) => names)).toEqual([['a', 'b'], ['b']])
    expect(states()).toEqual([
      ['a', 'cancelled', null],
      ['b', 'sending', null],
    ])
  })

  it('says that the file may be there once the node had all bytes', async () => {
    add(10 * kibibyte, 'a')
    await formsSent(1)
    forms[0]?.progress(10 * kibibyte + 200)
    queue.cancel(queue.uploads[0]?.id ?? 0)
    expect(states()).toEqual([['a', 'cancelled', { name: 'late' }]])
  })
})

describe('pausing uploads', () => {
  it('sends what has begun to its end, and then nothing until it goes on', async () => {
    add(5 * mebibyte, '1', '2', '3', '4')
    await formsSent(3)
    queue.setPaused(true)
    for (const form of forms) form.answer(200)
    await vi.waitFor(() => expect(queue.uploads.filter(isPending)).toHaveLength(1))
    expect(queue.isPaused).toBe(true)
    expect(forms).toHaveLength(3)
    queue.setPaused(false)
    await formsSent(4)
    expect(forms[3]?.names).toEqual(['4'])
  })

  it('ends with the uploads that it held back', async () => {
    add(5 * mebibyte, '1', '2', '3', '4')
    await formsSent(3)
    queue.setPaused(true)
    queue.cancel(...queue.uploads.map(({ id }) => id))
    add(kibibyte, '5')
    await formsSent(4)
    expect(queue.isPaused).toBe(false)
  })
})

describe('the queues of all servers', () => {
  it('are told to those who watch, as long as they have uploads', async () => {
    const watcher = vi.fn()
    const unsubscribe = uploadQueues.subscribe(watcher)
    add(kibibyte, 'a')
    await formsSent(1)
    expect(uploadQueues.getSnapshot()).toContain(queue)
    forms[0]?.answer(403)
    await vi.waitFor(() => expect(states()).toEqual([['a', 'failed', { name: 'protected' }]]))
    queue.clear()
    expect(uploadQueues.getSnapshot()).not.toContain(queue)
    expect(watcher).toHaveBeenCalled()
    unsubscribe()
  })
})
