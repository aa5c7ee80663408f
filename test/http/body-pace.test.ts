import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type BodyPace, documentPace, filePace, readAtPace } from '../../src/body-pace.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Reads a body that sends `bytes` every `seconds`, as often as there are bytes, and then nothing more unless `ends`. */
async function read(pace: BodyPace, pieces: { seconds: number; bytes: number }[], ends = true) {
  let isCancelled = false
  const body = new ReadableStream<Uint8Array>({
    start: async (controller) => {
      for (const { seconds, bytes } of pieces) {
        await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
        if (isCancelled) return
        controller.enqueue(new Uint8Array(bytes))
      }
      if (ends) controller.close()
    },
    cancel: () => void (isCancelled = true),
  })
  const startedAt = Date.now()
  let size = 0
  const reading = (async () => {
    for await (const chunk of readAtPace(body, pace)) size += chunk.byteLength
  })().then(
    () => 'read',
    (error: Error) => error.name,
  )
  await vi.advanceTimersByTimeAsync(3_600_000)
  return { outcome: await reading, size, isCancelled, startedAt }
}

const every = (seconds: number, bytes: number, times: number) =>
  Array.from({ length: times }, () => ({ seconds, bytes }))

describe('a document', () => {
  it('is read that comes within a minute', async () => {
    expect(await read(documentPace, every(5, 10, 11))).toMatchObject({ outcome: 'read', size: 110 })
  })

  it('is abandoned that trickles in for more than a minute', async () => {
    const { outcome, size, isCancelled } = await read(documentPace, every(7, 10, 100))
    expect({ outcome, size, isCancelled }).toEqual({ outcome: 'SlowBodyError', size: 80, isCancelled: true })
  })

  it('is abandoned that never comes', async () => {
    expect((await read(documentPace, [], false)).outcome).toBe('SlowBodyError')
  })
})

describe('a file', () => {
  it('is read that takes ten minutes at 16 KiB a second', async () => {
    const { outcome } = await read(filePace, [{ seconds: 0, bytes: 40_000 }, ...every(10, 170_000, 60)])
    expect(outcome).toBe('read')
  })

  it('may be slower in its first minute', async () => {
    expect((await read(filePace, every(5, 10, 11))).outcome).toBe('read')
  })

  it('is abandoned after 30 seconds without a byte', async () => {
    const { outcome, size } = await read(filePace, [
      { seconds: 29, bytes: 10_000_000 },
      { seconds: 29, bytes: 10_000_000 },
      { seconds: 31, bytes: 10_000_000 },
    ])
    expect([outcome, size]).toEqual(['SlowBodyError', 20_000_000])
  })

  it('is abandoned below 16 KiB a second after the first minute', async () => {
    const { outcome, size } = await read(filePace, every(10, 100_000, 60))
    expect([outcome, size]).toEqual(['SlowBodyError', 600_000])
  })
})
