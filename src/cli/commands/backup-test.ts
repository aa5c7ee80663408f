import { readEnv } from '../../platform/env.ts'
import { callOperation, type Command } from '../command.ts'
import type { Check } from '../operations/checks.ts'
import { formatChecks } from './doctor.ts'

/** `backup:test` */
export const backupTest: Command = {
  synopsis: 'backup:test',
  summary:
    'Uploads an archive to the object store as a daemon does, downloads and deletes it. Exit code 1 on failure.',
  help: `Uploads about 5 MiB in two parts through signed links, compares the download, deletes it, and aborts another
upload. Reports the step that fails, and leaves nothing in the store. Without S3_BUCKET it tests the embedded
store, which the panel serves while it runs.`,
  options: {},
  positionals: [0, 0],
  run: async (raw, args) => {
    const env = readEnv(raw)
    const { checks } = await callOperation<{ checks: Check[] }>(env, args, 'backup:test', {})
    const isHealthy = checks.every(({ state }) => state !== 'fail')
    const hint = isHealthy || env.S3_BUCKET ? '' : '\nThe embedded store needs a running panel.'
    return { text: formatChecks(checks) + hint, json: { checks }, exitCode: isHealthy ? 0 : 1 }
  },
}
