import { setTimeout as wait } from 'node:timers/promises'
import type { Credentials, DaemonSettings } from './daemon.ts'
import { takeFault, type Fault } from './faults.ts'

/** Retries in milliseconds: first and maximum delay, total time of all attempts, and timeout of one attempt. */
export type RetryPolicy = { first: number; max: number; total: number; timeout: number }

/** A call that the panel refused, answered with an invalid response, or did not receive (`status` undefined). */
export class PanelError extends Error {
  readonly status: number | undefined
  readonly retryable: boolean
  constructor(message: string, status?: number, retryable = false) {
    super(message)
    this.name = 'PanelError'
    this.status = status
    this.retryable = retryable
  }
}

export type PanelClient = {
  /** Fetches JSON below /api/remote. Throws a PanelError. */
  get: (path: string) => Promise<unknown>
  /** Posts JSON below /api/remote; `once` makes a single short attempt. Throws a PanelError. */
  post: (path: string, body: unknown, attempts?: 'retry' | 'once') => Promise<void>
  /** Posts JSON below /api/remote and gives the JSON of the response. Throws a PanelError. */
  requestJson: (path: string, body: unknown) => Promise<unknown>
  /** Aborts all calls; only `once` calls work afterwards. */
  abort: () => void
}

type Call = { method: 'GET' | 'POST'; path: string; body?: string }

type Client = {
  settings: DaemonSettings
  credentials: Credentials
  faults: Fault[]
  closing: AbortController
}

const lastAttemptTimeoutMs = 2_000
/** The maximum delay of a timer. */
const maxTimerMs = 2 ** 31 - 1

/**
 * Creates a client of the panel's remote API with Wings' rules: 4xx is final, 5xx and network errors are retried with
 * exponential backoff, and a timeout is not retried. Wings: docs/wings.md#calls-to-the-panel.
 */
export function createPanelClient(
  settings: DaemonSettings,
  credentials: Credentials,
  faults: Fault[],
): PanelClient {
  const client: Client = { settings, credentials, faults, closing: new AbortController() }
  return {
    get: (path) => fetchJson(client, { method: 'GET', path }),
    requestJson: (path, body) => fetchJson(client, { method: 'POST', path, body: JSON.stringify(body) }),
    post: async (path, body, attempts = 'retry') => {
      const call: Call = { method: 'POST', path, body: JSON.stringify(body) }
      const response =
        attempts === 'once'
          ? await attempt(client, call, AbortSignal.timeout(lastAttemptTimeoutMs))
          : await send(client, call)
      await response.body?.cancel()
      if (takeFault(faults, ['duplicate'], 'POST', `/api/remote${path}`)) {
        const repeated = await send(client, call).catch(() => undefined)
        await repeated?.body?.cancel()
      }
    },
    abort: () => client.closing.abort(),
  }
}

async function fetchJson(client: Client, call: Call): Promise<unknown> {
  const response = await send(client, call)
  try {
    return await response.json()
  } catch {
    throw new PanelError(`${call.method} ${call.path}: the response is not JSON`, response.status)
  }
}

async function attempt(client: Client, call: Call, signal: AbortSignal): Promise<Response> {
  const { tokenId, token } = client.credentials.outbound
  try {
    const response = await fetch(`${client.settings.panelUrl}/api/remote${call.path}`, {
      method: call.method,
      headers: {
        Authorization: `Bearer ${tokenId}.${token}`,
        Accept: 'application/vnd.pterodactyl.v1+json',
        'Content-Type': 'application/json',
        'User-Agent': `Pterodactyl Wings/v${client.settings.version} (id:${tokenId})`,
      },
      signal,
      ...(call.body === undefined ? {} : { body: call.body }),
    })
    if (response.ok) return response
    throw await readRefusal(call, response)
  } catch (error) {
    if (error instanceof PanelError) throw error
    throw new PanelError(`${call.method} ${call.path}: ${describeError(error)}`, undefined, !signal.aborted)
  }
}

async function send(client: Client, call: Call): Promise<Response> {
  const { settings, closing } = client
  const { first, max, total, timeout } = settings.retry
  const startedAt = performance.now()
  for (let delay = first; ; delay = Math.min(delay * 1.5, max)) {
    try {
      await applyFaults(client, call)
      const response = await attempt(
        client,
        call,
        AbortSignal.any([closing.signal, AbortSignal.timeout(timeout)]),
      )
      if (!takeFault(client.faults, ['drop'], call.method, remotePath(call))) return response
      await response.body?.cancel()
      throw new PanelError(`${call.method} ${call.path}: the response was lost`, undefined, true)
    } catch (error) {
      const jittered = delay * (0.5 + Math.random())
      const isOverdue = performance.now() - startedAt + jittered > total
      if (isOverdue || closing.signal.aborted || !(error instanceof PanelError) || !error.retryable)
        throw error
      await wait(jittered, undefined, { signal: closing.signal })
    }
  }
}

async function applyFaults({ faults, closing }: Client, call: Call): Promise<void> {
  const fault = takeFault(faults, ['delay', 'hang'], call.method, remotePath(call))
  if (!fault) return
  const milliseconds = fault.effect === 'delay' ? fault.milliseconds : maxTimerMs
  await wait(milliseconds, undefined, { signal: closing.signal, ref: fault.effect === 'delay' })
}

const remotePath = ({ path }: Call) => `/api/remote${path.split('?')[0]}`

async function readRefusal(call: Call, response: Response): Promise<PanelError> {
  const text = await response.text()
  const retryable = response.status < 400 || response.status >= 500
  return new PanelError(
    `${call.method} ${call.path}: ${response.status} ${text.slice(0, 200)}`,
    response.status,
    retryable,
  )
}

/** Describes anything thrown, with the cause that a failed fetch hides. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message
}
