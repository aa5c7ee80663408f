import { readEnv } from '../../platform/env.ts'
import { type CommandArguments, callOperation, columns, type Command, textOption } from '../command.ts'
import type { ShownDatabaseHost } from '../operations/database-host-create.ts'

/** `database-host:create` */
export const databaseHostCreate: Command = {
  synopsis: 'database-host:create --host HOST --username NAME [options]',
  summary: 'Adds a MariaDB or MySQL server for the databases of game servers.',
  help: `  --host HOST           name or address at which the panel and the game servers reach it
  --port PORT           default: 3306
  --username NAME       account that may create databases and users, and grant them privileges
  --password TEXT       default: empty
  --name TEXT           default: the host
  --node NODE           id, uuid or name of the node whose servers use this host first
  --max-databases N     default: unlimited
  --skip-check          does not test the login`,
  options: {
    host: { type: 'string' },
    port: { type: 'string' },
    username: { type: 'string' },
    password: { type: 'string' },
    name: { type: 'string' },
    node: { type: 'string' },
    'max-databases': { type: 'string' },
    'skip-check': { type: 'boolean' },
  },
  required: ['host', 'username'],
  positionals: [0, 0],
  run: async (raw, args) => {
    const host = await callOperation<ShownDatabaseHost>(
      readEnv(raw),
      args,
      'database-host:create',
      inputOf(args),
    )
    const { id, name, port, username } = host
    const text = columns([
      ['id', id],
      ['name', name],
      ['address', `${host.host}:${port}`],
      ['username', username],
    ])
    return { text, json: host }
  },
}

const inputOf = (args: CommandArguments) => ({
  host: textOption(args, 'host'),
  port: textOption(args, 'port'),
  username: textOption(args, 'username'),
  // Not trimmed: a password may begin or end with a space.
  password: args.values.password,
  name: textOption(args, 'name'),
  node: textOption(args, 'node'),
  max_databases: textOption(args, 'max-databases'),
  skip_check: args.values['skip-check'],
})
