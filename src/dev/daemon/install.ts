import { existsSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { startProcess } from './child-process.ts'
import type { Daemon } from './daemon.ts'
import { buildProcessEnvironment } from './environment.ts'
import { publish, publishDaemonLine, type GameServer, type Installation } from './game-server.ts'
import { describeError } from './panel-client.ts'
import { otherRuntimeMessage } from './runtime.ts'

type InstallScript = { entrypoint: string; script: string }

/**
 * Installs a server and reports the result to the panel; failures are logged and shown, never thrown. Only whether the
 * script could be run counts, not its exit code. Wings: POST /api/remote/servers/{uuid}/install
 */
export async function installServer(daemon: Daemon, server: GameServer, reinstall: boolean): Promise<void> {
  let successful = true
  if (!server.configuration.skipEggScripts) {
    publish(server, 'install started', '')
    try {
      await runInstallation(daemon, server)
    } catch (error) {
      successful = false
      publishDaemonLine(daemon, server, `The installation failed: ${describeError(error)}`)
      daemon.log(`${server.uuid}: installation failed: ${describeError(error)}`)
    }
  }
  if (server.deleted) return
  try {
    await daemon.panel.post(`/servers/${server.uuid}/install`, { successful, reinstall })
  } catch (error) {
    daemon.log(`${server.uuid}: the panel refused the installation result: ${describeError(error)}`)
  }
  publish(server, 'install completed', '')
}

async function runInstallation(daemon: Daemon, server: GameServer): Promise<void> {
  if (server.installation) throw new Error('the server is already being installed')
  if (!server.configuration.hasLocalRuntime) throw new Error(otherRuntimeMessage)
  const installation: Installation = { kill: () => {}, ended: Promise.resolve() }
  const run = async (): Promise<void> => {
    const script = readInstallScript(await daemon.panel.get(`/servers/${server.uuid}/install`))
    await runScript(daemon, server, script, installation)
  }
  server.installation = installation
  const result = run().finally(() => {
    server.installation = undefined
  })
  installation.ended = result.catch(() => {})
  await result
}

async function runScript(
  daemon: Daemon,
  server: GameServer,
  { entrypoint, script }: InstallScript,
  installation: Installation,
): Promise<void> {
  const scriptDirectory = join(daemon.settings.dataDirectory, 'install', server.uuid)
  const logDirectory = join(daemon.settings.dataDirectory, 'logs', 'install')
  const command = findInterpreter(entrypoint)
  const scriptPath = join(scriptDirectory, command === 'node' ? 'install.js' : 'install.sh')
  const output: string[] = []
  await Promise.all(
    [scriptDirectory, logDirectory, server.directory].map((path) => mkdir(path, { recursive: true })),
  )
  await writeFile(scriptPath, script.replaceAll('\r\n', '\n').replaceAll('/mnt/server', server.directory))
  try {
    const local = await startProcess({
      command,
      args: [scriptPath],
      directory: server.directory,
      environment: buildProcessEnvironment(server.configuration, server.directory),
      onLine: (line) => {
        output.push(line)
        publish(server, 'install output', line)
      },
    })
    installation.kill = () => local.signal('SIGKILL')
    if (server.deleted || daemon.closing) installation.kill()
    await local.ended
  } finally {
    await rm(scriptDirectory, { recursive: true, force: true })
    await writeFile(join(logDirectory, `${server.uuid}.log`), output.map((line) => `${line}\n`).join(''))
  }
}

function readInstallScript(answer: unknown): InstallScript {
  const { entrypoint, script } = answer as Record<string, unknown>
  return {
    entrypoint: typeof entrypoint === 'string' ? entrypoint : '',
    script: typeof script === 'string' ? script : '',
  }
}

/** Finds the local program for an image's interpreter: a shell of this machine, or `node` of the search path. */
function findInterpreter(entrypoint: string): string {
  const name = basename(entrypoint)
  if (name === 'node') return name
  if (name !== 'ash' && name !== 'bash' && name !== 'sh') return entrypoint
  return ['/bin/bash', '/usr/bin/bash'].find((path) => name !== 'sh' && existsSync(path)) ?? 'sh'
}
