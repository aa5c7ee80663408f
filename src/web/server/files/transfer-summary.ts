import type { Upload, UploadQueue } from './upload-queue.ts'
import { isPending } from './upload-queue.ts'

/** What the header of the tray says of all uploads. */
export type TransferSummary = {
  openCount: number
  sendingCount: number
  failedCount: number
  sent: number
  size: number
  isPaused: boolean
  /** Null while it is unknown. */
  bytesPerSecond: number | null
  remainingMs: number | null
}

const sumOf = (uploads: readonly Upload[], valueOf: (upload: Upload) => number) =>
  uploads.reduce((sum, upload) => sum + valueOf(upload), 0)

/** Adds up the uploads of all servers. */
export function summarize(queues: readonly UploadQueue[], now: number): TransferSummary {
  const uploads = queues.flatMap((queue) => queue.uploads)
  const counted = uploads.filter(({ state }) => state !== 'cancelled' && state !== 'failed')
  const [sent, size] = [sumOf(counted, (upload) => upload.sent), sumOf(counted, ({ file }) => file.size)]
  const speeds = queues.map((queue) => queue.pace.bytesPerSecond(now)).filter((speed) => speed !== null)
  const bytesPerSecond = speeds.length > 0 ? speeds.reduce((sum, speed) => sum + speed, 0) : null
  const open = uploads.filter(isPending)
  return {
    openCount: open.length,
    sendingCount: open.filter(({ state }) => state === 'sending').length,
    failedCount: uploads.filter(({ state }) => state === 'failed').length,
    sent,
    size,
    isPaused: open.length > 0 && queues.every((queue) => queue.isPaused || !queue.uploads.some(isPending)),
    bytesPerSecond: open.length > 0 ? bytesPerSecond : null,
    remainingMs: open.length > 0 && bytesPerSecond ? ((size - sent) / bytesPerSecond) * 1000 : null,
  }
}
