import { readEnv } from '../../platform/env.ts'
import { callOperation, type Command, textOption } from '../command.ts'
import { UsageError } from '../faults.ts'
import type { ListedJob, ListedJobs } from '../operations/jobs.ts'

/** `job:list` */
export const jobList: Command = {
  synopsis: 'job:list [options]',
  summary: 'Lists background jobs: waiting ones first, in the order of their next run, then the most recent.',
  help: `  --state STATE  waiting, done, or dead: failed for a day
  --name NAME    part of the name of the job
  --page N       50 jobs per page

The time in a line is that of the next attempt, or of the end.`,
  options: { state: { type: 'string' }, name: { type: 'string' }, page: { type: 'string' } },
  positionals: [0, 0],
  run: async (raw, args) => {
    const page = textOption(args, 'page') ?? '1'
    const state = textOption(args, 'state')
    if (!/^[1-9]\d{0,6}$/.test(page)) throw new UsageError(`--page ${page} is not a page number.`)
    if (state !== undefined && !['waiting', 'done', 'dead'].includes(state))
      throw new UsageError(`--state ${state} is not waiting, done or dead.`)
    const listed = await callOperation<ListedJobs>(readEnv(raw), args, 'job:list', {
      state,
      name: textOption(args, 'name'),
      page: Number(page),
    })
    const lines = [...listed.jobs.map(formatJob), `${listed.total} in total, page ${listed.page}`]
    return { text: lines.join('\n'), json: listed }
  },
}

/** `job:retry` */
export const jobRetry: Command = {
  synopsis: 'job:retry JOB',
  summary: 'Retries a dead job, or a waiting one at once.',
  help: '  JOB  id as job:list shows it; the job is due at once and has a day to succeed',
  options: {},
  positionals: [1, 1],
  run: async (raw, args) => {
    const [job] = args.positionals
    const retried = await callOperation<ListedJob>(readEnv(raw), args, 'job:retry', { job })
    return { text: formatJob(retried), json: retried }
  },
}

/** `job:discard` */
export const jobDiscard: Command = {
  synopsis: 'job:discard JOB',
  summary: 'Deletes a dead or waiting job. Its work is not done.',
  help: '  JOB  id as job:list shows it',
  options: {},
  positionals: [1, 1],
  run: async (raw, args) => {
    const [job] = args.positionals
    const discarded = await callOperation<{ discarded: string }>(readEnv(raw), args, 'job:discard', { job })
    return { text: `${discarded.discarded} was deleted.`, json: discarded }
  },
}

/** Formats a job as one line, with the time of its next attempt, or of its end. */
const formatJob = (job: ListedJob) =>
  [
    job.id,
    job.state.padEnd(7),
    job.finished_at ?? job.run_at,
    job.name,
    JSON.stringify(job.payload),
    job.attempts === 1 ? '1 attempt' : `${job.attempts} attempts`,
    job.last_error ?? '',
  ]
    .join('  ')
    .trimEnd()
