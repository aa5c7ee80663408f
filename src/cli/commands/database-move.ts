import type { Command } from '../command.ts'

/** `database:move` */
export const databaseMove: Command = {
  synopsis: 'database:move [--to postgres://…] [--check]',
  summary:
    'Moves the embedded database into an empty PostgreSQL and compares every table. The panel must not run.',
  help: `  --to URL  the empty database, by default that of DATABASE_URL, which other accounts do not see
  --check   does all of it, compares, and then takes it back

Everything happens in one transaction of the new database: it has all of the panel or nothing. The embedded database
is only read. Keys, objects and mails stay in DATA_DIR, which the panel goes on using.`,
  options: { to: { type: 'string' }, check: { type: 'boolean' } },
  positionals: [0, 0],
  // Loaded when it runs: the drivers of the databases take most of the time of a start.
  run: async (...input) => (await import('../database-move/move.ts')).moveDatabase(...input),
}
