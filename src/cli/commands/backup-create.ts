import type { Command } from '../command.ts'

/** `backup:create` */
export const backupCreate: Command = {
  synopsis: 'backup:create [--to FILE] [--with-keys] [--without-objects] [--dump FILE]',
  summary: 'Writes the database and the local object store into one file, while the panel runs.',
  help: `  --to FILE          a new file, by default in DATA_DIR/backups; - is standard output
  --with-keys        puts the keys into the archive; who has it can then read every secret
  --without-objects  leaves out the local object store
  --dump FILE        takes this output of pg_dump -Fc instead of running pg_dump; - is standard input

With PostgreSQL it runs pg_dump. A bucket (S3_BUCKET) is not in the archive, nor are the files of servers. Without the
keys of the panel, APP_KEYS or DATA_DIR/secrets.json, no stored secret of a restored database can be read.`,
  options: {
    to: { type: 'string' },
    'with-keys': { type: 'boolean' },
    'without-objects': { type: 'boolean' },
    dump: { type: 'string' },
  },
  positionals: [0, 0],
  // Loaded when it runs: the drivers of the databases take most of the time of a start.
  run: async (...input) => (await import('../archive/create.ts')).createBackup(...input),
}
