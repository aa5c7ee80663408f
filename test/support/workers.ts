import { fileURLToPath } from 'node:url'
import type { WorkerHandle } from 'wrangler'

const configPath = fileURLToPath(new URL('../../wrangler.toml', import.meta.url))

export type RunningWorkers = {
  url: URL
  worker: (environment: string | null) => WorkerHandle
  /** What the workers logged so far. */
  logs: () => string[]
  close: () => Promise<void>
}

/** Starts the named environments of wrangler.toml in one workerd; null is the top level. */
export async function startWorkers(
  environments: (string | null)[],
  secrets: Record<string, string>,
): Promise<RunningWorkers> {
  // Read when wrangler is loaded: it is to ask nobody on the internet for anything.
  Object.assign(process.env, { WRANGLER_SEND_METRICS: 'false', CLOUDFLARE_CF_FETCH_ENABLED: 'false', CI: '1' })
  const { createTestHarness } = await import('wrangler')
  const harness = createTestHarness({
    workers: environments.map((env) => ({ configPath, secrets, ...(env ? { env } : {}) })),
  })
  const { url } = await harness.listen()
  return {
    url,
    worker: (environment) => harness.getWorker(environment ? `roost-${environment}` : 'roost'),
    logs: () => harness.getLogs().map(({ message }) => String(message)),
    close: () => harness.close(),
  }
}
