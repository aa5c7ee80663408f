import type { Daemon } from './daemon.ts'
import { registerServer } from './game-server.ts'
import { killOrphan } from './orphans.ts'
import { describeError, PanelError } from './panel-client.ts'
import { runPowerActionInBackground } from './power.ts'
import { decodeServerConfiguration } from './server-configuration.ts'

const serversPerPage = 50
const startWaitMs = 30_000

type Page = { servers: unknown[]; currentPage: number; lastPage: number }

/**
 * Fetches the node's servers from the panel (page 0 first, then the other pages at once), starts those that ran when
 * the previous process ended, and reports the restart. A server with an invalid configuration is skipped; rejects
 * when the panel refuses. Wings: docs/wings.md#boot.
 */
export async function bootServers(daemon: Daemon): Promise<void> {
  const first = await fetchPage(daemon, 0)
  const numbers: number[] = []
  for (let page = first.currentPage + 1; page <= first.lastPage; page += 1) numbers.push(page)
  const others = await Promise.all(numbers.map((page) => fetchPage(daemon, page)))
  for (const entry of [first, ...others].flatMap((page) => page.servers)) register(daemon, entry)
  daemon.booted = true
  for (const server of daemon.servers.values()) {
    const state = daemon.states.previous.get(server.uuid)
    if (state === 'running' || state === 'starting')
      runPowerActionInBackground(daemon, server, 'start', startWaitMs)
  }
  try {
    await daemon.panel.post('/servers/reset', null)
  } catch (error) {
    daemon.log(`the panel refused the reset: ${describeError(error)}`)
  }
}

function register(daemon: Daemon, entry: unknown): void {
  try {
    const server = registerServer(daemon, decodeServerConfiguration(entry))
    killOrphan(daemon.settings.dataDirectory, server.uuid)
  } catch (error) {
    daemon.log(`a server is skipped: ${describeError(error)}`)
  }
}

async function fetchPage(daemon: Daemon, page: number): Promise<Page> {
  const path = `/servers?page=${page}&per_page=${serversPerPage}`
  const answer = (await daemon.panel.get(path)) as { data?: unknown; meta?: Record<string, unknown> } | null
  const { current_page: currentPage, last_page: lastPage } = answer?.meta ?? {}
  if (!Array.isArray(answer?.data) || !Number.isInteger(currentPage) || !Number.isInteger(lastPage)) {
    throw new PanelError(`GET ${path}: the response is not a page of servers`)
  }
  return { servers: answer.data, currentPage: currentPage as number, lastPage: lastPage as number }
}
