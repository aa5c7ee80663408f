import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { readEnv } from '../../platform/env.ts'
import { ask, type Command, type Report, textOption } from '../command.ts'
import { UsageError, VerbError } from '../faults.ts'
import type { ConfiguredNode } from '../verbs/node-configure.ts'
import { toYaml } from '../yaml.ts'

/** `node:configure` */
export const nodeConfigure: Command = {
  synopsis: 'node:configure NODE [--out FILE | --command]',
  summary: "Prints the configuration of a node's daemon as YAML, with its secret.",
  help: `  NODE          id, uuid or name of the node
  --out FILE    writes the configuration into a new file that only its owner can read; Wings reads
                /etc/pterodactyl/config.yml
  --command     prints the "wings configure" command to run on the node instead. It carries a new
                Application key of the first administrator, which can only read and change nodes and
                expires after an hour`,
  options: { out: { type: 'string' }, command: { type: 'boolean' } },
  words: [1, 1],
  run: async (raw, given) => {
    const out = textOption(given, 'out')
    const command = given.values.command === true
    if (out !== undefined && command) throw new UsageError('--out and --command exclude each other.')
    const env = readEnv(raw)
    const configured = await ask<ConfiguredNode>(env, 'node:configure', { node: given.words[0], command })
    if (configured.command) return { text: configured.command, json: configured }
    const yaml = toYaml(configured.configuration ?? {})
    return out === undefined
      ? { text: yaml.trimEnd(), json: configured }
      : writeOut(resolve(out), yaml, configured)
  },
}

async function writeOut(file: string, yaml: string, { node }: ConfiguredNode): Promise<Report> {
  try {
    await writeFile(file, yaml, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    throw new VerbError(`${file} exists already: move it away first.`)
  }
  return { text: `The configuration of ${node.name} is in ${file}.`, json: { node, file } }
}
