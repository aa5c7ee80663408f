import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { StoredMessage, Mailer } from '../../adapters/mail.ts'

/** Stores each message as one JSON file in a folder, named by its time, instead of sending it. */
export function mailOutbox(directory: string): Required<Mailer> {
  return {
    send: async (message) => {
      await mkdir(directory, { recursive: true, mode: 0o700 })
      const sentAt = new Date().toISOString()
      const name = `${sentAt.replaceAll(':', '-')}-${crypto.randomUUID()}.json`
      const stored: StoredMessage = { sentAt, ...message }
      await writeFile(join(directory, name), JSON.stringify(stored, null, 2), { mode: 0o600 })
    },
    outbox: async (limit) => {
      const names = (await listNames(directory)).filter((name) => name.endsWith('.json'))
      const newest = names.toSorted((one, other) => (one < other ? 1 : -1)).slice(0, limit)
      const texts = await Promise.all(newest.map((name) => readFile(join(directory, name), 'utf8')))
      return texts.map((text) => JSON.parse(text) as StoredMessage)
    },
  }
}

async function listNames(directory: string): Promise<string[]> {
  try {
    return await readdir(directory)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
