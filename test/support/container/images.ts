import { cp, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { command } from './commands.ts'
import type { Engine } from './engine.ts'

/** What the default images of `Dockerfile` and `compose.yaml` have, built from packages of Debian and from this Node. */
export type Images = { node: string; base: string; postgres: string; caddy: string; redis: string }

/** The image that `Dockerfile` makes. */
export const panelImage = 'roost'

/** The packages of distroless/cc. */
export const basePackages = ['base-files', 'netbase', 'ca-certificates', 'tzdata', 'libstdc++6']
const servicePackages = [...basePackages, 'busybox-static', 'postgresql-15', 'caddy']
const redisPackages = ['base-files', 'redis-server']

const accounts = `root:x:0:0:root:/root:/bin/sh
postgres:x:999:999:postgres:/var/lib/postgresql:/bin/sh
nonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin
`
const authorities = '/etc/ssl/certs/ca-certificates.crt'

/** Builds the images, since none can be pulled from where tests run. */
export async function buildImages(engine: Engine): Promise<Images> {
  const base = await unpack(engine, 'base', basePackages)
  const node = await unpack(engine, 'node', [...basePackages, 'busybox-static'])
  await Promise.all([addShell(node), addNode(node)])
  const services = await unpack(engine, 'services', servicePackages)
  await addShell(services)
  const redis = await unpack(engine, 'redis', redisPackages)
  const images = {
    node: 'test/node',
    base: 'test/base',
    postgres: 'test/postgres',
    caddy: 'test/caddy',
    redis: 'test/redis',
  }
  await importImage(engine, base, images.base)
  await importImage(engine, node, images.node, [`ENV NODE_EXTRA_CA_CERTS=${authorities}`])
  await importImage(engine, services, 'test/services')
  await importImage(engine, redis, images.redis, ['ENTRYPOINT ["redis-server"]'])
  await buildImage(engine, images.postgres, postgresFile, { 'start.sh': postgresStart })
  await buildImage(engine, images.caddy, caddyFile, {})
  return images
}

/** Builds the image of the panel as `Dockerfile` says, from the images below it. */
export const buildPanel = (
  engine: Engine,
  { node, base }: Pick<Images, 'node' | 'base'>,
  name = panelImage,
): Promise<string> => {
  const bases = Object.entries({ NODE_IMAGE: node, BASE_IMAGE: base })
  const options = bases.flatMap(([variable, image]) => ['--build-arg', `${variable}=${image}`])
  return engine.docker('build', '-t', name, ...options, '.')
}

/** Downloads packages with all that they need, and unpacks them into a folder. */
export async function unpack(engine: Engine, name: string, packages: string[]): Promise<string> {
  const cache = join(engine.folder, `${name}-packages`)
  const root = join(engine.folder, `${name}-root`)
  await mkdir(join(cache, 'archives', 'partial'), { recursive: true })
  await mkdir(root)
  // As if nothing were installed.
  await writeFile(join(cache, 'status'), '')
  const directories = { 'Dir::State::status': join(cache, 'status'), 'Dir::Cache': cache }
  const settings = { ...directories, 'APT::Install-Recommends': '0', 'Debug::NoLocking': '1' }
  const options = Object.entries(settings).flatMap(([key, value]) => ['-o', `${key}=${value}`])
  await command('apt-get', [...options, '-y', '-qq', '--download-only', 'install', ...packages])
  for (const file of await readdir(join(cache, 'archives')))
    if (file.endsWith('.deb')) await command('dpkg-deb', ['-x', join(cache, 'archives', file), root])
  await rm(cache, { recursive: true })
  await writeFile(join(root, 'etc', 'passwd'), accounts)
  return root
}

/** Adds the commands of busybox. */
async function addShell(root: string): Promise<void> {
  const busybox = join(root, 'bin', 'busybox')
  const applets = (await command(busybox, ['--list-full'])).trim().split('\n')
  for (const applet of applets.filter((path) => path !== 'bin/busybox')) {
    await mkdir(dirname(join(root, applet)), { recursive: true })
    await symlink('/bin/busybox', join(root, applet)).catch(() => undefined)
  }
}

/** Adds this Node, and the npm of this machine with the authorities that it trusts, since a proxy may have its own. */
async function addNode(root: string): Promise<void> {
  const modules = join(root, 'usr/local/lib/node_modules')
  const npm = join((await command('npm', ['root', '--global'])).trim(), 'npm')
  await mkdir(join(root, 'usr/local/bin'), { recursive: true })
  await cp(process.execPath, join(root, 'usr/local/bin/node'))
  await cp(npm, join(modules, 'npm'), { recursive: true, verbatimSymlinks: true })
  await cp(authorities, join(root, authorities))
  await symlink('../lib/node_modules/npm/bin/npm-cli.js', join(root, 'usr/local/bin/npm'))
}

export async function importImage(
  engine: Engine,
  root: string,
  name: string,
  changes: string[] = [],
): Promise<void> {
  const archive = `${root}.tar`
  await command('tar', ['-C', root, '-cf', archive, '.'])
  await engine.docker('import', ...changes.flatMap((change) => ['--change', change]), archive, name)
  await rm(archive)
  await rm(root, { recursive: true })
}

export async function buildImage(
  engine: Engine,
  name: string,
  dockerfile: string,
  files: Record<string, string>,
): Promise<void> {
  const folder = await mkdtemp(join(engine.folder, 'context-'))
  for (const [file, text] of Object.entries({ ...files, Dockerfile: dockerfile }))
    await writeFile(join(folder, file), text)
  await engine.docker('build', '-t', name, folder)
}

// As the official image does it: as much as the compose file uses.
const postgresFile = `FROM test/services
ENV PATH=/usr/lib/postgresql/15/bin:/usr/local/bin:/usr/bin:/bin PGDATA=/var/lib/postgresql/data
RUN mkdir -p $PGDATA /var/run/postgresql && chown postgres $PGDATA /var/run/postgresql
COPY start.sh /start.sh
STOPSIGNAL SIGINT
ENTRYPOINT ["sh", "/start.sh"]
`
const postgresStart = `set -e
chown postgres "$PGDATA" && chmod 700 "$PGDATA"
if [ ! -e "$PGDATA/PG_VERSION" ]; then
  cat "$POSTGRES_PASSWORD_FILE" > /tmp/password && chown postgres /tmp/password
  su postgres -c "initdb -D $PGDATA -U $POSTGRES_USER --pwfile=/tmp/password --auth-local=trust --auth-host=scram-sha-256 -E UTF8 --locale=C.UTF-8"
  su postgres -c "pg_ctl -D $PGDATA -o '-c listen_addresses=' -w start"
  [ "$POSTGRES_DB" = postgres ] || su postgres -c "createdb -U $POSTGRES_USER $POSTGRES_DB"
  su postgres -c "pg_ctl -D $PGDATA -w stop"
  echo 'host all all all scram-sha-256' >> "$PGDATA/pg_hba.conf"
fi
exec su postgres -c "exec postgres -D $PGDATA -c 'listen_addresses=*'"
`
const caddyFile = `FROM test/services
ENV XDG_DATA_HOME=/data XDG_CONFIG_HOME=/config
CMD ["caddy", "run", "--config", "/etc/caddy/Caddyfile", "--adapter", "caddyfile"]
`
