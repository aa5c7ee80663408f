import { readEnv } from '../../platform/env.ts'
import { ask, type Command, textOption } from '../command.ts'
import { UsageError } from '../faults.ts'
import type { ListedJob, ListedJobs } from '../verbs/jobs.ts'

/** `job:list` */
export const jobList: Command = {
  synopsis: 'job:list [options]',
  summary:
    'Lists the jobs behind requests: those that wait, the next first, then the others, the last to end first.',
  help: `  --state STATE  waiting, done, or dead: given up after a day of vain tries
  --name NAME    a part of what the job is called
  --page N       50 jobs a page

The time in a line is that of the next try, or of the end.`,
  options: { state: { type: 'string' }, name: { type: 'string' }, page: { type: 'string' } },
  words: [0, 0],
  run: async (raw, given) => {
    const page = textOption(given, 'page') ?? '1'
    const state = textOption(given, 'state')
    if (!/^[1-9]\d{0,6}$/.test(page)) throw new UsageError(`Not understood: --page ${page}`)
    if (state !== undefined && !['waiting', 'done', 'dead'].includes(state))
      throw new UsageError(`Not understood: --state ${state}`)
    const listed = await ask<ListedJobs>(readEnv(raw), 'job:list', {
      state,
      name: textOption(given, 'name'),
      page: Number(page),
    })
    const lines = [...listed.jobs.map(line), `${listed.total} in all, page ${listed.page}`]
    return { text: lines.join('\n'), json: listed }
  },
}

/** `job:retry` */
export const jobRetry: Command = {
  synopsis: 'job:retry JOB',
  summary: 'Has a job tried again that was given up, or waits for its next try.',
  help: '  JOB  id as job:list shows it; the job is due at once and has a day for it',
  options: {},
  words: [1, 1],
  run: async (raw, { words: [job] }) => {
    const retried = await ask<ListedJob>(readEnv(raw), 'job:retry', { job })
    return { text: line(retried), json: retried }
  },
}

/** `job:discard` */
export const jobDiscard: Command = {
  synopsis: 'job:discard JOB',
  summary: 'Forgets a job that was given up, or waits for its next try. Its work is left undone.',
  help: '  JOB  id as job:list shows it',
  options: {},
  words: [1, 1],
  run: async (raw, { words: [job] }) => {
    const discarded = await ask<{ discarded: string }>(readEnv(raw), 'job:discard', { job })
    return { text: `${discarded.discarded} is gone.`, json: discarded }
  },
}

/** With the time of its next try, or of its end. */
const line = (job: ListedJob) =>
  [
    job.id,
    job.state.padEnd(7),
    job.finished_at ?? job.run_at,
    job.name,
    JSON.stringify(job.payload),
    job.attempts === 1 ? '1 try' : `${job.attempts} tries`,
    job.last_error ?? '',
  ]
    .join('  ')
    .trimEnd()
