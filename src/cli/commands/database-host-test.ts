import { readEnv } from '../../platform/env.ts'
import { ask, type Command } from '../command.ts'
import type { TestedDatabaseHost } from '../verbs/database-host-test.ts'

/** `database-host:test` */
export const databaseHostTest: Command = {
  synopsis: 'database-host:test HOST',
  summary: 'Logs in to a database host as the panel does and prints what answers.',
  help: '  HOST    id or name of the database host',
  options: {},
  words: [1, 1],
  run: async (raw, given) => {
    const tested = await ask<TestedDatabaseHost>(readEnv(raw), 'database-host:test', { host: given.words[0] })
    const { name, version, tls } = tested
    return { text: `${name} answers: ${version}, ${tls ? 'over TLS' : 'without TLS'}.`, json: tested }
  },
}
