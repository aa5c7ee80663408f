import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { readEnv } from '../../platform/env.ts'
import { callOperation, type Command, type Report, textOption } from '../command.ts'
import { UsageError, OperationError } from '../faults.ts'
import type { ConfiguredNode } from '../operations/node-configure.ts'
import { toYaml } from '../yaml.ts'

/** `node:configure` */
export const nodeConfigure: Command = {
  synopsis: 'node:configure NODE [--out FILE | --command]',
  summary: "Prints the configuration of a node's daemon as YAML, with its secret.",
  help: `  NODE          id, uuid or name of the node
  --out FILE    writes the configuration to a new file that only its owner can read; Wings reads
                /etc/pterodactyl/config.yml
  --command     prints the "wings configure" command to run on the node instead. It contains a new
                Application key of the first administrator, which can only read and change nodes and
                expires after an hour`,
  options: { out: { type: 'string' }, command: { type: 'boolean' } },
  positionals: [1, 1],
  run: async (raw, args) => {
    const out = textOption(args, 'out')
    const command = args.values.command === true
    if (out !== undefined && command) throw new UsageError('Use either --out or --command.')
    const env = readEnv(raw)
    const configured = await callOperation<ConfiguredNode>(env, args, 'node:configure', {
      node: args.positionals[0],
      command,
    })
    if (configured.command) return { text: configured.command, json: configured }
    const yaml = toYaml(configured.configuration ?? {})
    return out === undefined
      ? { text: yaml.trimEnd(), json: configured }
      : writeConfiguration(resolve(out), yaml, configured)
  },
}

async function writeConfiguration(file: string, yaml: string, { node }: ConfiguredNode): Promise<Report> {
  try {
    await writeFile(file, yaml, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    throw new OperationError(`${file} already exists: move it away first.`)
  }
  return { text: `The configuration of ${node.name} was written to ${file}.`, json: { node, file } }
}
