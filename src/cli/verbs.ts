import * as z from 'zod'
import { seedEggs } from '../../drizzle/seed.ts'
import { invalidInput } from '../http/route.ts'
import { ruleOf } from '../http/rules.ts'
import type { Panel } from '../panel.ts'
import { type Fault, faultOf, VerbError } from './faults.ts'
import { StoreTesting, tryObjectStore } from './verbs/backup-test.ts'
import { createDatabaseHost, DatabaseHostCreation } from './verbs/database-host-create.ts'
import { DatabaseHostTesting, tryDatabaseHost } from './verbs/database-host-test.ts'
import { Examination, examine } from './verbs/doctor.ts'
import { EggImporting, importEggs } from './verbs/egg-import.ts'
import { discardNamedJob, JobListing, JobNaming, retryNamedJob, showJobs } from './verbs/jobs.ts'
import { createKey, KeyCreation } from './verbs/key-create.ts'
import { configureNode, NodeConfiguring } from './verbs/node-configure.ts'
import { scheduleTick, TickScheduling } from './verbs/queue-schedule.ts'
import { resealSecrets, SecretsResealing } from './verbs/secrets-reseal.ts'
import { createUser, UserCreation } from './verbs/user-create.ts'

type Verb = (panel: Panel, input: unknown) => Promise<unknown>

/** What one process asks of another, and what it hears. */
export type Asked = { verb: string; input: unknown }
export type Told = { output: unknown } | { fault: Fault }

/** Checks the input before `run` sees it: it may come from another process. */
const verb =
  <Schema extends z.ZodType>(
    schema: () => Schema,
    run: (panel: Panel, input: z.output<Schema>) => Promise<unknown>,
  ): Verb =>
  async (panel, input) => {
    const result = schema().safeParse(input, { error: (issue) => ruleOf(issue) })
    if (!result.success) throw invalidInput(result.error.issues)
    return run(panel, result.data)
  }

const verbs = new Map<string, Verb>([
  ['user:create', verb(UserCreation, createUser)],
  ['key:create', verb(KeyCreation, createKey)],
  ['node:configure', verb(NodeConfiguring, configureNode)],
  ['database-host:create', verb(DatabaseHostCreation, createDatabaseHost)],
  ['database-host:test', verb(DatabaseHostTesting, tryDatabaseHost)],
  ['backup:test', verb(StoreTesting, tryObjectStore)],
  ['egg:import', verb(EggImporting, importEggs)],
  ['job:list', verb(JobListing, showJobs)],
  ['job:retry', verb(JobNaming, retryNamedJob)],
  ['job:discard', verb(JobNaming, discardNamedJob)],
  ['queue:schedule', verb(TickScheduling, scheduleTick)],
  ['secrets:reseal', verb(SecretsResealing, resealSecrets)],
  ['doctor', verb(Examination, examine)],
  ['seed', verb(z.unknown, seedEggs)],
])

/** Does what the command line asks, with this panel. Throws what `faultOf` puts in words. */
export async function runVerb(panel: Panel, { verb: name, input }: Asked): Promise<unknown> {
  const run = verbs.get(name)
  if (!run) throw new VerbError(`The running panel does not know ${name}: start it again.`)
  return run(panel, input)
}

/** The same for a process that asks through the control socket: faults are told, not thrown. */
export async function tellVerb(panel: Panel, asked: unknown): Promise<Told> {
  try {
    const { verb: name, input } = z.object({ verb: z.string(), input: z.unknown() }).parse(asked)
    return { output: (await runVerb(panel, { verb: name, input })) ?? null }
  } catch (error) {
    return { fault: faultOf(error) }
  }
}
