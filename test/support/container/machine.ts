import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { eventually } from '../processes.ts'
import type { Engine } from './engine.ts'
import { basePackages, buildImage, importImage, panelImage, unpack } from './images.ts'

/** A machine of Debian that systemd runs, with the built panel where docs/systemd.md puts it; a container. */
export type Machine = {
  /** Runs a program as root; returns what it prints. */
  run: (...args: string[]) => Promise<string>
  systemctl: (...args: string[]) => Promise<string>
  /** One property of the unit `roost`. */
  property: (name: string) => Promise<string>
  /** What the journal has of the unit. */
  journal: () => Promise<string>
  /** A port of 127.0.0.1 that leads to 8080 of the machine. */
  port: number
}

const image = 'test/machine'
const programs = ['bash', 'dash', 'coreutils', 'util-linux', 'mount', 'passwd', 'procps', 'grep', 'libc-bin']
const systemd = ['systemd', 'systemd-sysv', 'libnss-systemd', 'dbus']

const files = {
  'etc/passwd': 'root:x:0:0:root:/root:/bin/sh\n',
  'etc/group': 'root:x:0:\n',
  'etc/nsswitch.conf':
    'passwd: files systemd\ngroup: files systemd\nshadow: files systemd\nhosts: files dns\n',
  // Without it the first boot asks for a locale.
  'etc/machine-id': '',
}
const machineFile = `FROM test/systemd
COPY --from=${panelImage} /usr/local/bin/node /usr/bin/node
COPY --from=${panelImage} /app/dist /opt/roost/dist
STOPSIGNAL SIGRTMIN+3
CMD ["/sbin/init"]
`

/** What systemd needs beyond a usual container, without the rights that a container of this machine may lack. */
const rights = [
  ...['SYS_ADMIN', 'SYS_PTRACE', 'SYS_NICE'].flatMap((name) => ['--cap-add', name]),
  ...['seccomp=unconfined', 'apparmor=unconfined'].flatMap((option) => ['--security-opt', option]),
  ...['/run', '/run/lock', '/tmp'].flatMap((path) => ['--tmpfs', path]),
  '--cgroupns=host',
  '-v',
  '/sys/fs/cgroup:/sys/fs/cgroup:rw',
]

/** Builds the image of the machine from packages of Debian and the image of the panel. */
export async function buildMachine(engine: Engine): Promise<void> {
  const root = await unpack(engine, 'systemd', [...basePackages, ...programs, ...systemd])
  for (const [path, text] of Object.entries(files)) await writeFile(join(root, path), text)
  await importImage(engine, root, 'test/systemd', ['ENV container=docker'])
  await buildImage(engine, image, machineFile, {})
}

/** Starts the machine in a network, and waits until systemd has started everything. */
export async function startMachine(engine: Engine, name: string, network: string): Promise<Machine> {
  const place = ['--name', name, '--network', network, '-p', '127.0.0.1:0:8080']
  await engine.docker('run', '-d', '-t', ...place, ...rights, image)
  const run = (...args: string[]) => engine.docker('exec', name, ...args)
  const systemctl = (...args: string[]) => run('systemctl', ...args)
  await eventually(
    async () => (await systemctl('is-system-running').catch(() => '')).trim() === 'running',
    60,
  ).catch(async (error: unknown) => {
    throw new Error(`systemd did not start:\n${await engine.docker('logs', name)}`, { cause: error })
  })
  const published = await engine.docker('port', name, '8080')
  return {
    run,
    systemctl,
    property: async (property) => (await systemctl('show', 'roost', '--value', '-p', property)).trim(),
    journal: () => run('journalctl', '--no-pager', '-u', 'roost', '-o', 'cat'),
    port: Number(published.trim().split(':').at(-1)),
  }
}
