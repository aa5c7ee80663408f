import { randomUUID } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import type { WorkerHandle } from 'wrangler'

const deployedConfigPath = fileURLToPath(new URL('../../wrangler.toml', import.meta.url))

/** An environment of wrangler.toml (null is its top level) and its bindings. */
export type WorkerInput = { environment: string | null; secrets: Record<string, string> }

export type RunningWorkers = {
  url: URL
  worker: (environment: string | null) => WorkerHandle
  /** What the workers logged so far. */
  logs: () => string[]
  close: () => Promise<void>
}

/**
 * Writes the configuration of the one worker, with a binding of Hyperdrive whose stand-in of Miniflare leads to a database.
 * Returns its path, beside wrangler.toml since the paths in it are relative.
 */
export async function withHyperdrive(databaseUrl: string): Promise<string> {
  const text = await readFile(deployedConfigPath, 'utf8')
  const address = new URL(databaseUrl)
  // Hyperdrive demands one, also where the server does not.
  address.password ||= 'unused'
  const binding = `[[hyperdrive]]\nbinding = "HYPERDRIVE"\nid = "local"\nlocalConnectionString = "${address.href}"\n`
  const path = `${deployedConfigPath.slice(0, -'.toml'.length)}-${randomUUID()}.toml`
  await writeFile(path, `${text.slice(0, text.indexOf('[env.client]'))}\n${binding}`)
  return path
}

/** Starts workers in one workerd; the routes of wrangler.toml decide which of them a request reaches. */
export async function startWorkers(
  workers: WorkerInput[],
  configPath = deployedConfigPath,
): Promise<RunningWorkers> {
  // Read when wrangler is loaded: it must not use the internet.
  Object.assign(process.env, { WRANGLER_SEND_METRICS: 'false', CLOUDFLARE_CF_FETCH_ENABLED: 'false' })
  const { createTestHarness } = await import('wrangler')
  const restoreFetch = letSocketsOut()
  const harness = createTestHarness({
    workers: workers.map(({ environment, secrets }) => ({
      configPath,
      secrets,
      ...(environment ? { env: environment } : {}),
    })),
  })
  const { url } = await harness.listen()
  return {
    url,
    worker: (environment) => harness.getWorker(environment ? `roost-${environment}` : 'roost'),
    logs: () => harness.getLogs().map(({ message }) => String(message)),
    close: async () => {
      await harness.close()
      restoreFetch()
    },
  }
}

/** Replaces `fetch` of this process, through which workers fetch, by that of Miniflare, which supports WebSockets. */
function letSocketsOut(): () => void {
  const fromWrangler = createRequire(createRequire(import.meta.url).resolve('wrangler'))
  const { fetch: fetchSocket } = fromWrangler('miniflare') as { fetch: typeof fetch }
  const { fetch: plainFetch } = globalThis
  globalThis.fetch = (input, init) => {
    const upgrade = new Headers(init?.headers).get('upgrade')
    return upgrade === 'websocket' ? fetchSocket(input, { headers: { upgrade } }) : plainFetch(input, init)
  }
  return () => void (globalThis.fetch = plainFetch)
}
