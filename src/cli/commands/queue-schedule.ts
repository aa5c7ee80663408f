import { readEnv } from '../../platform/env.ts'
import { ask, type Command } from '../command.ts'

/** `queue:schedule` */
export const queueSchedule: Command = {
  synopsis: 'queue:schedule',
  summary: 'Has QStash ask for the minute tick, for functions that no cron of their cloud wakes.',
  help: `Needs QSTASH_TOKEN. There is one such schedule, however often it is asked for; beside the cron of a
cloud it does no harm. Without QSTASH_TOKEN the panel is one process, which ticks by itself.`,
  options: {},
  words: [0, 0],
  run: async (raw) => {
    const env = readEnv(raw)
    if (!env.QSTASH_TOKEN)
      return { text: 'Nothing to do: the panel ticks by itself.', json: { scheduled: false } }
    const json = await ask<{ scheduled: true }>(env, 'queue:schedule', {})
    return { text: 'QStash asks for the tick every minute.', json }
  },
}
