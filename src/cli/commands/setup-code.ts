import { readEnv } from '../../platform/env.ts'
import { callOperation, type Command } from '../command.ts'

/** `setup:code` */
export const setupCode: Command = {
  synopsis: 'setup:code',
  summary: 'Prints a code with which the first administrator is created in the browser.',
  help: `The code works once, while the panel has no users, and replaces the one before. Where SETUP_CODE is set, that
one is printed.`,
  options: {},
  positionals: [0, 0],
  run: async (raw, args) => {
    const issued = await callOperation<{ code: string; url: string }>(readEnv(raw), args, 'setup:code', {})
    return { text: `Open ${issued.url} and enter the code ${issued.code}`, json: issued }
  },
}
