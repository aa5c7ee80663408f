import { readEnv } from '../../platform/env.ts'
import { callOperation, type Command } from '../command.ts'

/** `queue:schedule` */
export const queueSchedule: Command = {
  synopsis: 'queue:schedule',
  summary: 'Makes QStash call the minute tick, for functions without a cron trigger.',
  help: `Needs QSTASH_TOKEN. Idempotent, and harmless in addition to a cron trigger. Without QSTASH_TOKEN the
panel is one process, which runs the tick itself.`,
  options: {},
  positionals: [0, 0],
  run: async (raw, args) => {
    const env = readEnv(raw)
    if (!env.QSTASH_TOKEN)
      return { text: 'Nothing to do: the panel runs the tick itself.', json: { scheduled: false } }
    const json = await callOperation<{ scheduled: true }>(env, args, 'queue:schedule', {})
    return { text: 'QStash calls the tick every minute.', json }
  },
}
