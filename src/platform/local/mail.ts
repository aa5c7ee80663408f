import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Mailer } from '../../adapters/mail.ts'

/** Writes each message as one JSON file into a folder, oldest name first. */
export function mailOutbox(directory: string): Mailer {
  return {
    send: async (message) => {
      await mkdir(directory, { recursive: true })
      const name = `${new Date().toISOString().replaceAll(':', '-')}-${crypto.randomUUID()}.json`
      await writeFile(join(directory, name), JSON.stringify(message, null, 2), { mode: 0o600 })
    },
  }
}
