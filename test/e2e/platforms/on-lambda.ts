import { copyFile, cp, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { freePort } from '../../support/panel-process.ts'
import { startProcess } from '../../support/processes.ts'
import type { OpenPlatform } from './platform.ts'

/** The event of EventBridge. */
const schedule = { source: 'aws.events', 'detail-type': 'Scheduled Event' }
/** What functions are bundled from; they themselves are copied, since bundles are named by where they are. */
const sources = ['src', 'drizzle', 'node_modules', 'dist', 'package.json', 'tsconfig.json']

/** Bundles may still be on their way to the disk. */
const removal = { recursive: true, force: true, maxRetries: 20 }

/** Starts the functions of serverless.yml behind the gateway of serverless-offline, bundled as for a deployment. */
export const openLambda: OpenPlatform = async (environment) => {
  // Bundles are written beside serverless.yml, where another process may be packaging.
  const directory = await mkdtemp(join(tmpdir(), 'roost-lambda-'))
  await Promise.all([
    ...sources.map((name) => symlink(resolve(name), join(directory, name))),
    cp('functions', join(directory, 'functions'), { recursive: true }),
    copyFile('serverless.yml', join(directory, 'serverless.yml')),
  ])
  const [http, lambda, webSocket, balancer] = await Promise.all([1, 2, 3, 4].map(freePort))
  const origin = `http://localhost:${http}`
  const ports = { httpPort: http, lambdaPort: lambda, websocketPort: webSocket, albPort: balancer }
  const gateway = await startProcess(resolve('node_modules/serverless/bin/serverless.js'), {
    cwd: directory,
    args: [
      'offline',
      // The stand-in for Neon is no variable of serverless.yml: functions see those of the process, too.
      '--localEnvironment',
      ...Object.entries(ports).flatMap(([name, port]) => [`--${name}`, String(port)]),
    ],
    env: { ...environment, APP_URL: origin, CI: '1', SLS_TELEMETRY_DISABLED: '1' },
    ready: /Server ready:/,
    failed: /^Error:\n.+/m,
  }).catch(async (error: unknown) => {
    await rm(directory, removal)
    throw error
  })
  // In a package files lie beside the folder of the functions.
  for (const name of ['dist', 'src'])
    await symlink(resolve(name), join(directory, '.esbuild', '.build', name))
  return {
    name: 'Lambda',
    origin,
    tick: () => invoke(`http://127.0.0.1:${lambda}`, 'roost-dev-jobs', schedule),
    close: async () => {
      await gateway.stop()
      await rm(directory, removal)
    },
  }
}

/** Invokes a function directly; throws when it fails. */
async function invoke(endpoint: string, name: string, event: object): Promise<void> {
  const answer = await fetch(`${endpoint}/2015-03-31/functions/${name}/invocations`, {
    method: 'POST',
    body: JSON.stringify(event),
  })
  const text = await answer.text()
  const isFailure = !answer.ok || answer.headers.has('x-amz-function-error')
  if (isFailure) throw new Error(`${name} failed: ${answer.status} ${text}`)
}
