import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { readEnv } from '../../platform/env.ts'
import { ask, type Command, textOption } from '../command.ts'
import type { ImportedEggs } from '../verbs/egg-import.ts'

/** `egg:import` */
export const eggImport: Command = {
  synopsis: 'egg:import FILE… [--nest NEST]',
  summary: 'Imports eggs; one with the same uuid, or the same name in the nest, is brought up to date.',
  help: `  FILE          exported egg in JSON (PTDL_v1, PTDL_v2, PLCN_v1 to PLCN_v3); - reads standard input
  --nest NEST   id or name of the nest; a name that no nest has makes one. "Imported" when left out

Either all of the files are imported or, when one has faults, none.`,
  options: { nest: { type: 'string' } },
  words: [1, Infinity],
  run: async (raw, given) => {
    const files = await Promise.all(given.words.map(readDocument))
    const nest = textOption(given, 'nest') ?? 'Imported'
    const imported = await ask<ImportedEggs>(readEnv(raw), 'egg:import', { nest, files })
    return { text: imported.eggs.map(describe).join('\n'), json: imported }
  },
}

const readDocument = async (file: string) => ({
  name: file === '-' ? 'standard input' : file,
  text: file === '-' ? await text(process.stdin) : await readFile(file, 'utf8'),
})

const describe = ({ id, name, state, warnings }: ImportedEggs['eggs'][number]) =>
  [`${id}  ${name}  ${state}`, ...warnings.map((warning) => `  warning: ${warning}`)].join('\n')
