import { readEnv } from '../../platform/env.ts'
import { type Arguments, ask, columns, type Command, textOption } from '../command.ts'
import type { ShownDatabaseHost } from '../verbs/database-host-create.ts'

/** `database-host:create` */
export const databaseHostCreate: Command = {
  synopsis: 'database-host:create --host HOST --username NAME [options]',
  summary: 'Adds a MariaDB or MySQL server on which databases of game servers can be made.',
  help: `  --host HOST           name or address under which the panel and the game servers reach it
  --port PORT           3306 when left out
  --username NAME       account that may create databases and users, and grant them their rights
  --password TEXT       empty when left out
  --name TEXT           the host when left out
  --node NODE           id, uuid or name of the node whose servers get their databases here first
  --max-databases N     unlimited when left out
  --skip-check          does not log in there before`,
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
  words: [0, 0],
  run: async (raw, given) => {
    const host = await ask<ShownDatabaseHost>(readEnv(raw), 'database-host:create', inputOf(given))
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

const inputOf = (given: Arguments) => ({
  host: textOption(given, 'host'),
  port: textOption(given, 'port'),
  username: textOption(given, 'username'),
  // As it was written: a password may begin or end with a space.
  password: given.values.password,
  name: textOption(given, 'name'),
  node: textOption(given, 'node'),
  max_databases: textOption(given, 'max-databases'),
  skip_check: given.values['skip-check'],
})
