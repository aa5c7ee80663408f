import type { Command } from '../command.ts'

/** `backup:restore` */
export const backupRestore: Command = {
  synopsis: 'backup:restore FILE [--replace] [--without-database]',
  summary: 'Restores what backup:create wrote, into an empty DATA_DIR and database. The panel must not run.',
  help: `  FILE                - is standard input
  --replace           replaces what is there; it stays beside the new data until that is in place
  --without-database  restores keys and objects only: restore database.dump of the archive with pg_restore

Checks every file of the archive first. Refuses an archive of a newer schema, and one whose secrets need other keys
than APP_KEYS, DATA_DIR/secrets.json or the archive itself. Keys that are replaced stay in DATA_DIR/before-restore-*.`,
  options: { replace: { type: 'boolean' }, 'without-database': { type: 'boolean' } },
  positionals: [1, 1],
  // Loaded when it runs: the drivers of the databases take most of the time of a start.
  run: async (...input) => (await import('../archive/restore.ts')).restoreBackup(...input),
}
