import * as z from 'zod'
import { seedEggs } from '../../drizzle/seed.ts'
import { invalidInput } from '../http/route.ts'
import { ruleName } from '../http/validation-rules.ts'
import type { Panel } from '../panel.ts'
import { type Fault, faultOf, OperationError } from './faults.ts'
import { BackupSnapshotInput, takeSnapshot } from './operations/backup-snapshot.ts'
import { BackupTestInput, runBackupTest } from './operations/backup-test.ts'
import { createDatabaseHost, DatabaseHostCreateInput } from './operations/database-host-create.ts'
import { DatabaseHostTestInput, testNamedDatabaseHost } from './operations/database-host-test.ts'
import { DoctorInput, runDoctor } from './operations/doctor.ts'
import { EggImportInput, importEggs } from './operations/egg-import.ts'
import { discardNamedJob, JobIdInput, JobListInput, listNamedJobs, retryNamedJob } from './operations/jobs.ts'
import { createKey, KeyCreateInput } from './operations/key-create.ts'
import { MailTestInput, testMail } from './operations/mail-test.ts'
import { moveIn, MoveInInput } from './operations/move-in.ts'
import { configureNode, NodeConfigureInput } from './operations/node-configure.ts'
import { NodeResetSecretInput, resetNodeSecret } from './operations/node-reset-secret.ts'
import { QueueScheduleInput, scheduleTick } from './operations/queue-schedule.ts'
import { rotateSecrets, SecretsRotateInput } from './operations/secrets-rotate.ts'
import { createSetupCode, SetupCodeInput } from './operations/setup-code.ts'
import { readUpgradeState, UpgradeStateInput } from './operations/upgrade-state.ts'
import { createUser, UserCreateInput } from './operations/user-create.ts'
import { resetNamedPassword, resetNamedTwoFactor, UserResetInput } from './operations/user-resets.ts'
import { UserVerifyEmailInput, verifyNamedUserEmail } from './operations/user-verify-email.ts'

type Operation = (panel: Panel, input: unknown) => Promise<unknown>

/** A request of the command line to a running process, and its response. */
export type RpcRequest = { verb: string; input: unknown }
export type RpcResponse = { output: unknown } | { fault: Fault }

/** Validates the input of an operation, which may come from another process. */
const operation =
  <Schema extends z.ZodType>(
    schema: () => Schema,
    run: (panel: Panel, input: z.output<Schema>) => Promise<unknown>,
  ): Operation =>
  async (panel, input) => {
    const result = schema().safeParse(input, { error: (issue) => ruleName(issue) })
    if (!result.success) throw invalidInput(result.error.issues)
    return run(panel, result.data)
  }

/** Null in the command lines of earlier versions. */
const SeedInput = () =>
  z
    .object({ replacesEdited: z.boolean().default(false) })
    .nullish()
    .transform((input) => input ?? {})

const operations = new Map<string, Operation>([
  ['setup:code', operation(SetupCodeInput, createSetupCode)],
  ['user:create', operation(UserCreateInput, createUser)],
  ['user:reset-password', operation(UserResetInput, resetNamedPassword)],
  ['user:reset-2fa', operation(UserResetInput, resetNamedTwoFactor)],
  ['user:verify-email', operation(UserVerifyEmailInput, verifyNamedUserEmail)],
  ['key:create', operation(KeyCreateInput, createKey)],
  ['node:configure', operation(NodeConfigureInput, configureNode)],
  ['node:reset-secret', operation(NodeResetSecretInput, resetNodeSecret)],
  ['database-host:create', operation(DatabaseHostCreateInput, createDatabaseHost)],
  ['database-host:test', operation(DatabaseHostTestInput, testNamedDatabaseHost)],
  ['backup:snapshot', operation(BackupSnapshotInput, takeSnapshot)],
  ['backup:test', operation(BackupTestInput, runBackupTest)],
  ['mail:test', operation(MailTestInput, testMail)],
  ['egg:import', operation(EggImportInput, importEggs)],
  ['import:pterodactyl', operation(MoveInInput, moveIn)],
  ['import:pelican', operation(MoveInInput, moveIn)],
  ['import:verify', operation(MoveInInput, moveIn)],
  ['job:list', operation(JobListInput, listNamedJobs)],
  ['job:retry', operation(JobIdInput, retryNamedJob)],
  ['job:discard', operation(JobIdInput, discardNamedJob)],
  ['queue:schedule', operation(QueueScheduleInput, scheduleTick)],
  ['secrets:rotate', operation(SecretsRotateInput, rotateSecrets)],
  // The name of earlier versions, whose command lines and running panels know no other.
  ['secrets:reseal', operation(SecretsRotateInput, rotateSecrets)],
  ['upgrade:state', operation(UpgradeStateInput, readUpgradeState)],
  ['doctor', operation(DoctorInput, runDoctor)],
  ['seed', operation(SeedInput, seedEggs)],
])

/** Runs an operation of the command line with this panel. Throws errors for `faultOf`. */
export async function dispatchOperation(panel: Panel, { verb: name, input }: RpcRequest): Promise<unknown> {
  const run = operations.get(name)
  if (!run) throw new OperationError(`The running panel does not support ${name}: restart it.`)
  return run(panel, input)
}

/** Runs an operation for another process, which sent it through the control socket. Returns faults instead of throwing. */
export async function handleRpc(panel: Panel, request: unknown): Promise<RpcResponse> {
  try {
    const { verb: name, input } = z.object({ verb: z.string(), input: z.unknown() }).parse(request)
    return { output: (await dispatchOperation(panel, { verb: name, input })) ?? null }
  } catch (error) {
    return { fault: faultOf(error) }
  }
}
