import type { Command } from '../command.ts'

/** `upgrade:check` */
export const upgradeCheck: Command = {
  synopsis: 'upgrade:check [--releases URL]',
  summary: 'Tells what an upgrade to this version changes, before it does.',
  help: `Run it from the new version with the environment of the panel, before the migration. Tells the version
that runs (of the process with the embedded database, or of APP_URL), the migrations that the database lacks, and
what has to be known of them. Changes nothing. Exit code 1 while a migration is pending.
  --releases URL  also looks for a newer version there: JSON with "version", or "tag_name" as GitHub's
                  /repos/OWNER/NAME/releases/latest has it`,
  options: { releases: { type: 'string' } },
  positionals: [0, 0],
  // Loaded when it runs: the drivers of the databases take most of the time of a start.
  run: async (...input) => (await import('../upgrade-check.ts')).checkUpgrade(...input),
}
