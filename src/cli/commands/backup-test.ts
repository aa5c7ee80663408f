import { readEnv } from '../../platform/env.ts'
import { ask, type Command } from '../command.ts'
import type { Check } from '../verbs/checks.ts'
import { table } from './doctor.ts'

/** `backup:test` */
export const backupTest: Command = {
  synopsis: 'backup:test',
  summary:
    'Sends an archive to the object store as a daemon does, fetches it and removes it. Exit code 1 on failure.',
  help: `Sends about 5 MiB in two parts through signed links, compares what comes back, removes it, and gives an upload
up. Says at which of these steps the store fails, and leaves nothing there. Without S3_BUCKET that is the
embedded store, which the panel serves while it runs.`,
  options: {},
  words: [0, 0],
  run: async (raw) => {
    const env = readEnv(raw)
    const { checks } = await ask<{ checks: Check[] }>(env, 'backup:test', {})
    const isFit = checks.every(({ state }) => state === 'ok')
    const hint = isFit || env.S3_BUCKET ? '' : '\nThe panel serves the embedded store: does it run?'
    return { text: table(checks) + hint, json: { checks }, exitCode: isFit ? 0 : 1 }
  },
}
