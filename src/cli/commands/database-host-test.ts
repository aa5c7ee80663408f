import { readEnv } from '../../platform/env.ts'
import { callOperation, type Command } from '../command.ts'
import type { TestedDatabaseHost } from '../operations/database-host-test.ts'

/** `database-host:test` */
export const databaseHostTest: Command = {
  synopsis: 'database-host:test HOST',
  summary: 'Logs in to a database host as the panel does and prints its version.',
  help: '  HOST    id or name of the database host',
  options: {},
  positionals: [1, 1],
  run: async (raw, args) => {
    const tested = await callOperation<TestedDatabaseHost>(readEnv(raw), args, 'database-host:test', {
      host: args.positionals[0],
    })
    const { name, version, tls } = tested
    return { text: `${name} answers: ${version}, ${tls ? 'over TLS' : 'without TLS'}.`, json: tested }
  },
}
