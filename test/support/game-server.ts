import type { StubServer } from './stub-panel.ts'

const program = `
import { writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
writeFileSync('server.pid', String(process.pid))
console.log('Loading on port ' + process.env.SERVER_PORT)
console.log('Done! Ready for players')
createInterface({ input: process.stdin }).on('line', (line) => {
  if (line.startsWith('say ')) console.log('[Server] ' + line.slice(4))
  if (line === 'list') console.log('There are 0 players online')
  if (line === 'crash') process.exit(3)
  if (line === 'stop') process.exit(0)
})
`

const installScript = `#!/bin/ash
cd /mnt/server
cat > server.mjs <<'PROGRAM'
${program}
PROGRAM
echo "program installed"
exit 4
`

/** Builds the configuration of a server whose installation writes a small Node program with a console, its pid in server.pid. */
export function describeGameServer(uuid: string, settings: Record<string, unknown> = {}): StubServer {
  return {
    settings: {
      uuid,
      meta: { name: 'Demo', description: '' },
      suspended: false,
      environment: { MOTD: 'Hello', greeting: 'lower case' },
      invocation: 'node server.mjs --motd "{{MOTD}}"',
      skip_egg_scripts: false,
      build: {
        memory_limit: 512,
        swap: 0,
        io_weight: 500,
        cpu_limit: 100,
        threads: null,
        disk_space: 1024,
        oom_disabled: true,
      },
      container: { image: 'ghcr.io/example/node:24' },
      allocations: {
        force_outgoing_ip: false,
        default: { ip: '127.0.0.1', port: 25565 },
        mappings: { '127.0.0.1': [25565] },
      },
      mounts: [],
      egg: { id: 'b3a6d0c4-3c8a-4a2b-9a0e-3f5b1f7f4b11', file_denylist: [], features: { local_runtime: [] } },
      ...settings,
    },
    process_configuration: {
      startup: { done: ['Done!'], user_interaction: [], strip_ansi: false },
      stop: { type: 'command', value: 'stop' },
      configs: [
        {
          file: 'server.properties',
          parser: 'properties',
          replace: [{ match: 'server-port', replace_with: '25565' }],
        },
      ],
    },
    install: { container_image: 'ghcr.io/example/installer', entrypoint: 'ash', script: installScript },
  }
}
