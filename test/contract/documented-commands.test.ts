import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { documentedCommand, documentedCommands } from '../support/documented-commands.ts'

/** Commands that a test runs as they are written, by its file; those of others by the reason why none does. */
type Page = { run: Record<string, string[]>; notRun: Record<string, string[]> }

const pages: Record<string, Page> = {
  'docs/systemd.md': {
    run: {
      'test/container/systemd.test.ts': [
        'sudo -E sh -c',
        'sudo node /opt/roost/dist/server/panel.mjs service:install',
        'sudo systemctl enable --now roost',
        'systemctl reload roost',
        'systemctl restart roost',
        'systemd-analyze security roost',
        'journalctl -u roost',
        'journalctl -u roost -o cat',
        "sudo sh -c 'set -a",
      ],
    },
    notRun: {
      'needs the registry of npm; the machine of the test has what it builds': ['npm ci'],
      'opens an editor': ['sudo systemctl edit roost'],
      'names a program, not a command': ['systemctl start'],
    },
  },
  'docs/proxies.md': {
    run: {},
    notRun: {
      'replaces files of the machine and reloads its proxy, from packages that are not of Debian or need a certificate; test/platform/proxies.test.ts runs both files':
        ['sudo cp docs/proxies/Caddyfile', 'sudo cp docs/proxies/nginx.conf'],
    },
  },
  'docs/operations.md': {
    run: {
      'test/cli/operations-commands.test.ts': [
        'createdb',
        'export DATABASE_URL=',
        'npm run panel -- database:move --check',
        'npm run panel -- database:move',
        'npm start',
        'npm run migrate',
        'npm run routes',
        'npm run panel -- backup:create',
        'npm run panel -- backup:test',
        'npm run panel -- job:list',
        'npm run panel -- queue:schedule',
      ],
    },
    notRun: {
      'has the name of a database host': ['npm run panel -- database-host:test HOST'],
      'replaces what all tests run from': ['npm ci', 'npm run build'],
      'runs the sources, as most tests do': ['npm run dev', 'NODE_OPTIONS=--enable-source-maps npm start'],
      'is the verb of a container, and run as npm run panel': [
        'panel backup:create',
        'panel backup:restore FILE',
        'panel database:move',
      ],
    },
  },
  'docs/one-machine.md': {
    run: {},
    notRun: {
      'has the images of the world, a terminal or a network; test/container/compose.test.ts does the same with images of its own':
        [
          'docker compose up -d',
          'docker compose up -d database',
          'docker compose create',
          'docker compose build panel',
          'docker compose logs panel',
          'docker compose logs database',
          'docker compose exec panel panel user:create',
          'docker compose exec panel panel doctor',
          'docker compose exec panel node /app/dist/server/seed.mjs',
          'docker compose exec -T panel panel node:configure one',
        ],
      'saves and restores all services of two machines; test/cli/backup.test.ts runs the verbs over a PostgreSQL of its own':
        [
          'docker compose exec -T database pg_dump',
          'docker compose run --rm -T --entrypoint panel panel backup:restore',
          'tar --zstd -xOf',
        ],
      'takes the volume of secrets away before': ['PASSWORD=', 'docker compose exec -T database psql'],
      'needs a registry, a repository or another machine': [
        'git pull',
        'docker compose pull',
        'docker image inspect',
        'docker build -t roost .',
        'docker save roost',
      ],
      'the daemon cannot be built from packages of Debian': ['docker compose --profile node up -d'],
      'writes outside of the folder of a test': ['sudo mkdir -p /etc/pterodactyl'],
      'is no command alone': ['docker compose', 'docker compose exec panel panel <verb>'],
    },
  },
}

describe.each(Object.entries(pages))('the commands of %s', (page, { run, notRun }) => {
  it('are each run by a test, or it is said why not', () => {
    const known = [...Object.values(run), ...Object.values(notRun)].flat()
    expect(known.map((beginning) => documentedCommand(page, beginning)).toSorted()).toEqual(
      documentedCommands(page).toSorted(),
    )
  })

  it('are taken from the page by the test that runs them', () => {
    for (const [file, beginnings] of Object.entries(run)) {
      const source = readFileSync(file, 'utf8')
      expect(source).toContain(page)
      for (const beginning of beginnings) {
        const verb = beginning.replace(/^npm run panel -- (?!backup|database:)/, '')
        expect([beginning, source.includes(verb)]).toEqual([beginning, true])
      }
    }
  })
})
