import { setTimeout as wait } from 'node:timers/promises'
import type { Credentials, DaemonSettings } from './daemon.ts'
import { takeFault, type Fault } from './faults.ts'

/** Back-off in milliseconds: first pause, longest pause, end of all attempts, and the limit of one attempt. */
export type RetryPolicy = { first: number; max: number; total: number; timeout: number }

/** The panel refused a call, answered something unreadable, or could not be reached (`status` undefined). */
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
  /** Fetches JSON below /api/remote; throws a PanelError. */
  get: (path: string) => Promise<unknown>
  /** Sends JSON below /api/remote; with `once` there is a single short attempt. Throws a PanelError. */
  post: (path: string, body: unknown, attempts?: 'retry' | 'once') => Promise<void>
  /** Sends JSON below /api/remote and gives the answer's; throws a PanelError. */
  ask: (path: string, body: unknown) => Promise<unknown>
  /** Ends every call under way; only `once` calls work afterwards. */
  abort: () => void
}

type Call = { method: 'GET' | 'POST'; path: string; body?: string }

type Client = {
  settings: DaemonSettings
  credentials: Credentials
  faults: Fault[]
  closing: AbortController
}

const lastAttemptTimeout = 2_000
/** The longest time that a timer knows. */
const forEver = 2 ** 31 - 1

/**
 * A client of the panel's remote API with Wings' rules: 4xx is final, 5xx and network errors are retried with
 * exponential back-off, a time-out is not retried. Wings: remote client.
 */
export function createPanelClient(
  settings: DaemonSettings,
  credentials: Credentials,
  faults: Fault[],
): PanelClient {
  const client: Client = { settings, credentials, faults, closing: new AbortController() }
  return {
    get: (path) => fetchJson(client, { method: 'GET', path }),
    ask: (path, body) => fetchJson(client, { method: 'POST', path, body: JSON.stringify(body) }),
    post: async (path, body, attempts = 'retry') => {
      const call: Call = { method: 'POST', path, body: JSON.stringify(body) }
      const response =
        attempts === 'once'
          ? await attempt(client, call, AbortSignal.timeout(lastAttemptTimeout))
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
    throw new PanelError(`${call.method} ${call.path}: the answer is not JSON`, response.status)
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
    throw await refusal(call, response)
  } catch (error) {
    if (error instanceof PanelError) throw error
    throw new PanelError(`${call.method} ${call.path}: ${describe(error)}`, undefined, !signal.aborted)
  }
}

async function send(client: Client, call: Call): Promise<Response> {
  const { settings, closing } = client
  const { first, max, total, timeout } = settings.retry
  const startedAt = performance.now()
  for (let pause = first; ; pause = Math.min(pause * 1.5, max)) {
    try {
      await waitByFault(client, call)
      const response = await attempt(
        client,
        call,
        AbortSignal.any([closing.signal, AbortSignal.timeout(timeout)]),
      )
      if (!takeFault(client.faults, ['drop'], call.method, remotePath(call))) return response
      await response.body?.cancel()
      throw new PanelError(`${call.method} ${call.path}: the answer was lost`, undefined, true)
    } catch (error) {
      const spread = pause * (0.5 + Math.random())
      const late = performance.now() - startedAt + spread > total
      if (late || closing.signal.aborted || !(error instanceof PanelError) || !error.retryable) throw error
      await wait(spread, undefined, { signal: closing.signal })
    }
  }
}

async function waitByFault({ faults, closing }: Client, call: Call): Promise<void> {
  const fault = takeFault(faults, ['delay', 'hang'], call.method, remotePath(call))
  if (!fault) return
  const milliseconds = fault.effect === 'delay' ? fault.milliseconds : forEver
  await wait(milliseconds, undefined, { signal: closing.signal, ref: fault.effect === 'delay' })
}

const remotePath = ({ path }: Call) => `/api/remote${path.split('?')[0]}`

async function refusal(call: Call, response: Response): Promise<PanelError> {
  const text = await response.text()
  const retryable = response.status < 400 || response.status >= 500
  return new PanelError(
    `${call.method} ${call.path}: ${response.status} ${text.slice(0, 200)}`,
    response.status,
    retryable,
  )
}

/** The text of anything thrown, with the cause where a failed fetch hides it. */
export function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message
}
