import * as z from 'zod'
import { ruleName } from '../http/validation-rules.ts'
import type { Panel } from '../panel.ts'
import { type Fault, faultOf, OperationError } from './faults.ts'

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
    if (result.success) return run(panel, result.data)
    const { invalidInput } = await import('../http/route.ts')
    throw invalidInput(result.error.issues)
  }

/** Null in the command lines of earlier versions. */
const SeedInput = () =>
  z
    .object({ replacesEdited: z.boolean().default(false) })
    .nullish()
    .transform((input) => input ?? {})

const loadMoveIn = () =>
  import('./operations/move-in.ts').then((verb) => operation(verb.MoveInInput, verb.moveIn))
const loadSecretsRotate = () =>
  import('./operations/secrets-rotate.ts').then((verb) =>
    operation(verb.SecretsRotateInput, verb.rotateSecrets),
  )

/** Each is loaded when it is called: all of them need several times the memory of one. */
const operations = new Map<string, () => Promise<Operation>>([
  [
    'setup:code',
    () =>
      import('./operations/setup-code.ts').then((verb) =>
        operation(verb.SetupCodeInput, verb.createSetupCode),
      ),
  ],
  [
    'user:create',
    () =>
      import('./operations/user-create.ts').then((verb) => operation(verb.UserCreateInput, verb.createUser)),
  ],
  [
    'user:reset-password',
    () =>
      import('./operations/user-resets.ts').then((verb) =>
        operation(verb.UserResetInput, verb.resetNamedPassword),
      ),
  ],
  [
    'user:reset-2fa',
    () =>
      import('./operations/user-resets.ts').then((verb) =>
        operation(verb.UserResetInput, verb.resetNamedTwoFactor),
      ),
  ],
  [
    'user:verify-email',
    () =>
      import('./operations/user-verify-email.ts').then((verb) =>
        operation(verb.UserVerifyEmailInput, verb.verifyNamedUserEmail),
      ),
  ],
  [
    'key:create',
    () => import('./operations/key-create.ts').then((verb) => operation(verb.KeyCreateInput, verb.createKey)),
  ],
  [
    'node:configure',
    () =>
      import('./operations/node-configure.ts').then((verb) =>
        operation(verb.NodeConfigureInput, verb.configureNode),
      ),
  ],
  [
    'node:reset-secret',
    () =>
      import('./operations/node-reset-secret.ts').then((verb) =>
        operation(verb.NodeResetSecretInput, verb.resetNodeSecret),
      ),
  ],
  [
    'database-host:create',
    () =>
      import('./operations/database-host-create.ts').then((verb) =>
        operation(verb.DatabaseHostCreateInput, verb.createDatabaseHost),
      ),
  ],
  [
    'database-host:test',
    () =>
      import('./operations/database-host-test.ts').then((verb) =>
        operation(verb.DatabaseHostTestInput, verb.testNamedDatabaseHost),
      ),
  ],
  [
    'backup:snapshot',
    () =>
      import('./operations/backup-snapshot.ts').then((verb) =>
        operation(verb.BackupSnapshotInput, verb.takeSnapshot),
      ),
  ],
  [
    'backup:test',
    () =>
      import('./operations/backup-test.ts').then((verb) =>
        operation(verb.BackupTestInput, verb.runBackupTest),
      ),
  ],
  [
    'mail:test',
    () => import('./operations/mail-test.ts').then((verb) => operation(verb.MailTestInput, verb.testMail)),
  ],
  [
    'egg:import',
    () =>
      import('./operations/egg-import.ts').then((verb) => operation(verb.EggImportInput, verb.importEggs)),
  ],
  ['import:pterodactyl', loadMoveIn],
  ['import:pelican', loadMoveIn],
  ['import:verify', loadMoveIn],
  [
    'job:list',
    () => import('./operations/jobs.ts').then((verb) => operation(verb.JobListInput, verb.listNamedJobs)),
  ],
  [
    'job:retry',
    () => import('./operations/jobs.ts').then((verb) => operation(verb.JobIdInput, verb.retryNamedJob)),
  ],
  [
    'job:discard',
    () => import('./operations/jobs.ts').then((verb) => operation(verb.JobIdInput, verb.discardNamedJob)),
  ],
  [
    'queue:schedule',
    () =>
      import('./operations/queue-schedule.ts').then((verb) =>
        operation(verb.QueueScheduleInput, verb.scheduleTick),
      ),
  ],
  ['secrets:rotate', loadSecretsRotate],
  // The name of earlier versions, whose command lines and running panels know no other.
  ['secrets:reseal', loadSecretsRotate],
  [
    'upgrade:state',
    () =>
      import('./operations/upgrade-state.ts').then((verb) =>
        operation(verb.UpgradeStateInput, verb.readUpgradeState),
      ),
  ],
  [
    'doctor',
    () => import('./operations/doctor.ts').then((verb) => operation(verb.DoctorInput, verb.runDoctor)),
  ],
  ['seed', () => import('../../drizzle/seed.ts').then((verb) => operation(SeedInput, verb.seedEggs))],
])

/** Runs an operation of the command line with this panel. Throws errors for `faultOf`. */
export async function dispatchOperation(panel: Panel, { verb: name, input }: RpcRequest): Promise<unknown> {
  const load = operations.get(name)
  if (!load) throw new OperationError(`The running panel does not support ${name}: restart it.`)
  const run = await load()
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
