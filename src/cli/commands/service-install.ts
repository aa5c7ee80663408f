import { execFileSync } from 'node:child_process'
import { existsSync, realpathSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { EnvironmentError, readEnv } from '../../platform/env.ts'
import { repositoryRoot } from '../../platform/repository.ts'
import { type Command, type CommandArguments, isSet, type Report, textOption } from '../command.ts'
import { OperationError, reasonOf, UsageError } from '../faults.ts'
import { signUnit, writeUnitFile } from '../service/unit-file.ts'
import { isStateDirectory, type UnitOptions, unitOf } from '../service/unit.ts'
import { readEnvFile } from '../setup/env-file.ts'

/** `service:install` */
export const serviceInstall: Command = {
  synopsis: 'service:install [--print] [--force] [options]',
  summary: 'Writes a hardened systemd unit that runs this panel, as root. Starts nothing.',
  help: `  --print          prints the unit and writes nothing
  --force          replaces a unit that was changed, or that others wrote, and keeps a copy beside it
  --name NAME      name of the unit; roost
  --env-file FILE  file with the variables of the panel, made by setup; /etc/NAME/panel.env
  --data-dir DIR   where the panel keeps its data; /var/lib/NAME. Elsewhere than below /var/lib
                   it must exist, and belong to the account of --user
  --user USER      an account of this machine; without it systemd makes one for each run
  --port PORT      port on which the panel listens, unless the file says; 8080

The panel must be built (npm run build) and Node installed where every account can read them, such as
/opt/roost and /usr/bin. See docs/systemd.md.`,
  options: {
    print: { type: 'boolean' },
    force: { type: 'boolean' },
    name: { type: 'string', default: 'roost' },
    'env-file': { type: 'string' },
    'data-dir': { type: 'string' },
    user: { type: 'string' },
    port: { type: 'string' },
  },
  positionals: [0, 0],
  run: async (_raw, args) => {
    const options = readOptions(args)
    const text = signUnit(unitOf(options))
    if (isSet(args, 'print')) return { text: text.trimEnd(), json: { unit: text } }
    requireSystemd()
    requireReachable(options)
    await requireFit(options)
    return install(options, text, isSet(args, 'force'))
  },
}

function readOptions(args: CommandArguments): UnitOptions {
  const name = textOption(args, 'name') ?? ''
  if (!/^[a-z][\w.-]*$/i.test(name)) throw new UsageError('--name has letters, digits, dots and hyphens.')
  const port = textOption(args, 'port')
  if (port !== undefined && !(/^\d+$/.test(port) && Number(port) >= 1 && Number(port) <= 65_535))
    throw new UsageError('--port is a number from 1 to 65535.')
  const user = textOption(args, 'user') ?? null
  if (user !== null && !/^[a-z_][\w-]*\$?$/i.test(user))
    throw new UsageError('--user is no name of an account.')
  const options = {
    name,
    user,
    node: realpathSync(process.execPath),
    root: resolve(repositoryRoot),
    dataDir: resolve(textOption(args, 'data-dir') ?? `/var/lib/${name}`),
    envFile: resolve(textOption(args, 'env-file') ?? `/etc/${name}/panel.env`),
    port: port === undefined ? null : Number(port),
  }
  const { node, root, dataDir, envFile } = options
  const unfit = [node, root, dataDir, envFile].find((path) => /[\s"'\\%$]/.test(path))
  if (unfit !== undefined) throw new UsageError(`${unfit} has characters that a unit cannot have plainly.`)
  if (!isStateDirectory(dataDir) && user === null)
    throw new UsageError('--data-dir elsewhere than below /var/lib needs --user, to whom it belongs.')
  return options
}

/** Throws where there is no systemd, or no right to write its units. */
function requireSystemd(): void {
  if (!existsSync('/run/systemd/system'))
    throw new OperationError(
      'This machine does not run systemd. Use --print for a unit of another machine, or run the panel with Docker (docs/one-machine.md).',
    )
  if (process.getuid?.() !== 0) throw new OperationError('Only root writes units: run this with sudo.')
  try {
    execFileSync('systemd-notify', ['--version'], { stdio: 'ignore' })
  } catch {
    throw new OperationError(
      'systemd-notify is missing, by which the panel reports: install the package systemd.',
    )
  }
}

/** Throws where the account of the service could not read the program. */
function requireReachable({ root, node, user }: UnitOptions): void {
  const main = join(root, 'dist/server/main.mjs')
  if (!existsSync(main)) throw new OperationError(`${main} is missing: run npm run build.`)
  for (const path of [main, node]) {
    if (/^\/(?:home|root|run\/user|tmp|var\/tmp)\//.test(path))
      throw new OperationError(
        `${path} is where the service cannot look. Copy dist/ to /opt/roost, install Node for all accounts, and run this there.`,
      )
  }
  if (user === null) return
  try {
    execFileSync('id', ['-u', user], { stdio: 'ignore' })
  } catch {
    throw new OperationError(
      `There is no account ${user}: create it (useradd --system ${user}), or leave --user out.`,
    )
  }
}

/** Throws for a file of variables with which the panel would not start, and for one that others can read. */
async function requireFit({ envFile, dataDir }: UnitOptions): Promise<void> {
  const found = await readEnvFile(envFile)
  if (!found)
    throw new OperationError(`${envFile} is missing: make it with the verb setup --out ${envFile}, as root.`)
  if ((statSync(envFile).mode & 0o077) !== 0)
    throw new OperationError(`${envFile} has secrets and can be read by others: chmod 600 ${envFile}`)
  try {
    readEnv(found.values)
  } catch (error) {
    if (!(error instanceof EnvironmentError)) throw error
    throw new OperationError(
      `The panel would not start with ${envFile}.`,
      error.faults.map((fault) => ({ field: envFile, problem: fault })),
    )
  }
  const { DATA_DIR } = found.values
  if (DATA_DIR !== undefined && resolve(DATA_DIR) !== dataDir)
    throw new OperationError(
      `${envFile} sets DATA_DIR to ${DATA_DIR}, where the service cannot write: remove it, or use --data-dir.`,
    )
}

async function install(
  { name, envFile, dataDir }: UnitOptions,
  text: string,
  force: boolean,
): Promise<Report> {
  const file = `/etc/systemd/system/${name}.service`
  let copy: string | null
  try {
    copy = await writeUnitFile(file, text, force)
    execFileSync('systemctl', ['daemon-reload'], { stdio: 'pipe' })
  } catch (error) {
    if (error instanceof OperationError) throw error
    throw new OperationError(`${file} could not be installed: ${reasonOf(error)}`)
  }
  const next = [`systemctl enable --now ${name}`, `systemctl status ${name}`, `journalctl -u ${name} -f`]
  return {
    text: [
      `${file} was written. Variables: ${envFile}. Data: ${dataDir}.`,
      ...(copy === null ? [] : [`What was there is ${copy}.`]),
      'Next:',
      ...next.map((line) => `  ${line}`),
    ].join('\n'),
    json: { file, copy, next },
  }
}
