import { readFile } from 'node:fs/promises'
import { Agent, request } from 'node:https'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { eventually } from '../processes.ts'
import type { Engine } from './engine.ts'
import { type Images, panelImage } from './images.ts'

export type Answered = { status: number; body: string }

/** The services of `compose.yaml`, started as an operator does it. */
export type Installation = {
  compose: (...args: string[]) => Promise<string>
  /** Id of the container of a service. */
  container: (service: string) => Promise<string>
  /** Everything that a service has logged. */
  logs: (service: string) => Promise<string>
  /** Resolves when the panel answers that it can serve, through Caddy. */
  ready: () => Promise<void>
  /** Sends a request to the panel through Caddy, whose own authority must have signed the certificate. */
  send: (method: string, path: string, options?: { key?: string; body?: unknown }) => Promise<Answered>
  /** Names of volumes and of the network begin with it. */
  project: string
}

const readySeconds = 90

/** Names the images and free ports for `compose.yaml`. */
export const composeVariables = (images: Images): Record<string, string> => ({
  PANEL_IMAGE: panelImage,
  POSTGRES_IMAGE: images.postgres,
  CADDY_IMAGE: images.caddy,
  VALKEY_IMAGE: images.redis,
  NODE_IMAGE: images.node,
  BASE_IMAGE: images.base,
  // Reaches the panel, whose limit is below what a test sends.
  APPLICATION_RATE_LIMIT: '1000000',
  HTTP_PORT: '127.0.0.1:0',
  HTTPS_PORT: '127.0.0.1:0',
})

/** Opens the installation of a project with more variables; `compose('up', …)` starts it. */
export function openInstallation(
  engine: Engine,
  images: Images,
  project: string,
  more: Record<string, string> = {},
): Installation {
  const variables = { ...composeVariables(images), ...more }
  const compose = (...args: string[]) => engine.compose(project, variables, ...args)
  const container = async (service: string) => (await compose('ps', '-q', service)).trim()
  let trust: { agent: Agent; port: number } | null = null

  /** Fetches the authority that Caddy has made, and the port that leads to it. */
  async function findTrust() {
    const file = join(engine.folder, `${project}.crt`)
    await engine.docker('cp', `${await container('caddy')}:/data/caddy/pki/authorities/local/root.crt`, file)
    const port = Number((await compose('port', 'caddy', '443')).trim().split(':').at(-1))
    return { agent: new Agent({ ca: await readFile(file) }), port }
  }

  const send: Installation['send'] = async (method, path, { key, body } = {}) => {
    trust ??= await findTrust()
    const { agent, port } = trust
    const headers = {
      host: 'localhost',
      accept: 'application/json',
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    }
    const target = { agent, method, path, headers, port, host: '127.0.0.1', servername: 'localhost' }
    return new Promise((resolve, reject) => {
      const sent = request(target, (answer) => {
        text(answer).then((read) => resolve({ status: answer.statusCode ?? 0, body: read }), reject)
      })
      sent.once('error', reject)
      sent.end(body === undefined ? undefined : JSON.stringify(body))
    })
  }

  return {
    compose,
    container,
    logs: (service) => compose('logs', '--no-color', service),
    ready: async () => {
      await eventually(
        async () => (await send('GET', '/health').catch(() => null))?.status === 200,
        readySeconds,
      )
    },
    send,
    project,
  }
}
