import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { readEnv } from '../../platform/env.ts'
import { callOperation, type Command, textOption } from '../command.ts'
import type { ImportedEggs } from '../operations/egg-import.ts'

/** `egg:import` */
export const eggImport: Command = {
  synopsis: 'egg:import FILE… [--nest NEST] [--replace]',
  summary: 'Imports eggs. Updates an egg with the same uuid, or with the same name in the nest.',
  help: `  FILE          exported egg in JSON or YAML (PTDL_v1, PTDL_v2, PLCN_v1 to PLCN_v3); - reads standard input
  --nest NEST   id or name of the nest; creates a nest with a new name. Default: Imported
  --replace     also replaces an egg of another origin: another update URL or, without one, another author

Imports either all files or, when one is invalid, none.`,
  options: { nest: { type: 'string' }, replace: { type: 'boolean' } },
  positionals: [1, Infinity],
  run: async (raw, args) => {
    const files = await Promise.all(args.positionals.map(readDocument))
    const nest = textOption(args, 'nest') ?? 'Imported'
    const input = { nest, files, replace: args.values.replace === true }
    const imported = await callOperation<ImportedEggs>(readEnv(raw), args, 'egg:import', input)
    return { text: imported.eggs.map(formatEgg).join('\n'), json: imported }
  },
}

const readDocument = async (file: string) => ({
  name: file === '-' ? 'standard input' : file,
  text: file === '-' ? await text(process.stdin) : await readFile(file, 'utf8'),
})

const formatEgg = ({ id, name, state, warnings }: ImportedEggs['eggs'][number]) =>
  [`${id}  ${name}  ${state}`, ...warnings.map((warning) => `  warning: ${warning}`)].join('\n')
