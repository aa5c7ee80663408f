import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describeError, type PanelClient } from './panel-client.ts'

const batchSize = 100

/** An entry of POST /api/remote/activity; `timestamp` is RFC 3339 in UTC with up to nine fraction digits. */
export type ActivityEntry = {
  user: string | null
  server: string
  event: string
  metadata: Record<string, unknown>
  ip: string
  timestamp: string
}

export type ActivityQueue = {
  add: (entry: Omit<ActivityEntry, 'timestamp'>) => void
  /** Sends at once and then once per interval. */
  start: (intervalMs: number) => void
  /** Sends once more and stores what could not be sent for the next start. */
  close: () => Promise<void>
}

/**
 * Creates the queue of what users do over sockets and posts it in batches of at most 100. A refused batch stays
 * first in the queue. Wings: POST /api/remote/activity
 */
export function createActivityQueue(
  panel: PanelClient,
  dataDirectory: string,
  log: (line: string) => void,
): ActivityQueue {
  const path = join(dataDirectory, 'activity.json')
  const entries = readEntries(path)
  let timer: NodeJS.Timeout | undefined
  let sending: Promise<void> | undefined

  async function flush(): Promise<void> {
    sending ??= sendAll(panel, entries, log, 'retry').finally(() => {
      sending = undefined
    })
    await sending
  }

  return {
    add: (entry) => entries.push({ ...entry, timestamp: nanosecondTimestamp() }),
    start: (intervalMs) => {
      timer = setInterval(() => void flush(), intervalMs).unref()
      void flush()
    },
    close: async () => {
      clearInterval(timer)
      await sending
      await sendAll(panel, entries, log, 'once')
      if (entries.length > 0) writeFileSync(path, JSON.stringify(entries))
      else rmSync(path, { force: true })
    },
  }
}

async function sendAll(
  panel: PanelClient,
  entries: ActivityEntry[],
  log: (line: string) => void,
  attempts: 'retry' | 'once',
): Promise<void> {
  try {
    while (entries.length > 0) {
      const batch = entries.slice(0, batchSize)
      await panel.post('/activity', { data: batch }, attempts)
      entries.splice(0, batch.length)
    }
  } catch (error) {
    log(`the activity could not be sent and is kept: ${describeError(error)}`)
  }
}

/** Formats the present time as Go does: with nanoseconds, without trailing zeros. */
function nanosecondTimestamp(): string {
  const now = new Date()
  const fraction = String(process.hrtime.bigint() % 1_000_000n).padStart(6, '0')
  return `${now.toISOString().slice(0, -1)}${fraction}`.replace(/\.?0+$/, '') + 'Z'
}

function readEntries(path: string): ActivityEntry[] {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as ActivityEntry[]
  } catch {
    return []
  }
}
