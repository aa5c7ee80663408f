/** Milliseconds after which a call to a daemon is given up. */
const defaultTimeout = 12_000

export type PowerSignal = 'start' | 'stop' | 'restart' | 'kill'

/** What a daemon says of a server. Sizes in bytes, uptime in milliseconds; it may leave out anything. */
export type DaemonServer = {
  state?: string
  is_suspended?: boolean
  utilization?: {
    memory_bytes?: number
    cpu_absolute?: number
    disk_bytes?: number
    uptime?: number
    network?: { rx_bytes?: number; tx_bytes?: number }
  }
}

/** The daemon of one node, in the panel's words. Every call may throw a `DaemonError`. */
export type Daemon = {
  /** Version and machine of the daemon. Wings: GET /api/system */
  system: () => Promise<{ version?: string }>
  /** State and use of one server. Wings: GET /api/servers/{uuid} */
  showServer: (uuid: string) => Promise<DaemonServer>
  /** Makes the daemon fetch, create and install a server. Wings: POST /api/servers */
  createServer: (uuid: string, startOnCompletion: boolean) => Promise<void>
  /** The daemon holds the server no more; not holding it before is fine. Wings: DELETE /api/servers/{uuid} */
  deleteServer: (uuid: string) => Promise<void>
  /** Makes the daemon fetch the server's configuration again. Wings: POST /api/servers/{uuid}/sync */
  syncServer: (uuid: string) => Promise<void>
  /** Accepts to install a server again, which then happens by itself. Wings: POST /api/servers/{uuid}/reinstall */
  reinstallServer: (uuid: string) => Promise<void>
  /** Accepts a change of the power state, which then happens by itself. Wings: POST /api/servers/{uuid}/power */
  setPower: (uuid: string, signal: PowerSignal) => Promise<void>
  /** Writes lines to the console. Wings: POST /api/servers/{uuid}/commands */
  sendCommands: (uuid: string, commands: string[]) => Promise<void>
  /**
   * Closes the user's consoles and SFTP sessions on these servers and refuses the tokens he was given
   * so far; 404 from daemons before 1.12. Wings: POST /api/deauthorize-user
   */
  deauthorizeUser: (userUuid: string, serverUuids: string[]) => Promise<void>
  /** Refuses tokens with these names on one server. Wings: POST /api/servers/{uuid}/ws/deny */
  denyTokens: (uuid: string, names: string[]) => Promise<void>
  /**
   * Has the daemon send a server to another one, which `token` lets it into; it stops the server before it
   * answers. Wings: POST /api/servers/{uuid}/transfer
   */
  startTransfer: (uuid: string, destination: { url: string; token: string }) => Promise<void>
  /** The daemon sends the server to nobody; having nothing to stop is fine. Wings: DELETE /api/servers/{uuid}/transfer */
  cancelTransfer: (uuid: string) => Promise<void>
  /** Hands the daemon its own configuration. Wings: POST /api/update */
  updateConfiguration: (configuration: object) => Promise<void>
}

/** A daemon that could not be reached (`status` null), or what it answered instead of success. */
export class DaemonError extends Error {
  readonly status: number | null
  readonly requestId: string | null

  constructor(status: number | null, message: string, requestId: string | null = null, cause?: unknown) {
    super(message, cause === undefined ? {} : { cause })
    this.name = 'DaemonError'
    this.status = status
    this.requestId = requestId
  }
}

type DaemonTarget = {
  /** Origin of the daemon. */
  url: string
  /** The node's secret alone, without its id. */
  token: () => Promise<string>
  /** Milliseconds after which a call is given up. */
  timeout: number
}

/** The daemon at an address, over HTTP. */
export function httpDaemon(url: string, token: () => Promise<string>, timeout = defaultTimeout): Daemon {
  const target = { url, token, timeout }
  const tell = async (method: string, path: string, body?: object) => {
    const answer = await call(target, method, path, body)
    await answer.body?.cancel()
  }
  const at = (uuid: string) => `/api/servers/${uuid}`
  return {
    system: () => ask(target, '/api/system'),
    showServer: (uuid) => ask(target, at(uuid)),
    createServer: (uuid, startOnCompletion) =>
      tell('POST', '/api/servers', { uuid, start_on_completion: startOnCompletion }),
    deleteServer: async (uuid) => {
      try {
        await tell('DELETE', at(uuid))
      } catch (error) {
        if (!(error instanceof DaemonError) || error.status !== 404) throw error
      }
    },
    syncServer: (uuid) => tell('POST', `${at(uuid)}/sync`),
    reinstallServer: (uuid) => tell('POST', `${at(uuid)}/reinstall`),
    setPower: (uuid, signal) => tell('POST', `${at(uuid)}/power`, { action: signal }),
    sendCommands: (uuid, commands) => tell('POST', `${at(uuid)}/commands`, { commands }),
    deauthorizeUser: (userUuid, serverUuids) =>
      tell('POST', '/api/deauthorize-user', { user: userUuid, servers: serverUuids }),
    denyTokens: (uuid, names) => tell('POST', `${at(uuid)}/ws/deny`, { jtis: names }),
    startTransfer: async (uuid, destination) => {
      // The server may take 15 seconds to stop.
      const patient = { ...target, timeout: 2 * target.timeout }
      const body = { ...destination, server: { uuid, start_on_completion: false } }
      const answer = await call(patient, 'POST', `${at(uuid)}/transfer`, body)
      await answer.body?.cancel()
    },
    cancelTransfer: async (uuid) => {
      try {
        await tell('DELETE', `${at(uuid)}/transfer`)
      } catch (error) {
        if (!(error instanceof DaemonError) || ![404, 409].includes(error.status ?? 0)) throw error
      }
    },
    updateConfiguration: (configuration) => tell('POST', '/api/update', configuration),
  }
}

async function call(target: DaemonTarget, method: string, path: string, body?: object): Promise<Response> {
  const token = await target.token()
  let answer: Response
  try {
    answer = await fetch(`${target.url}${path}`, {
      method,
      redirect: 'manual',
      headers: {
        authorization: `Bearer ${token}`,
        accept: 'application/json',
        ...(body ? { 'content-type': 'application/json' } : {}),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
      signal: AbortSignal.timeout(target.timeout),
    })
  } catch (error) {
    throw new DaemonError(null, 'The node did not answer.', null, error)
  }
  if (!answer.ok) throw await errorFrom(answer)
  return answer
}

async function ask<T>(target: DaemonTarget, path: string): Promise<T> {
  const answer = await call(target, 'GET', path)
  try {
    return (await answer.json()) as T
  } catch (error) {
    throw new DaemonError(
      answer.status,
      'The node gave an answer that cannot be read.',
      requestIdOf(answer),
      error,
    )
  }
}

const requestIdOf = (answer: Response) => answer.headers.get('x-request-id')

/** A daemon labels JSON as plain text at times, so the text is tried, not the label. */
async function errorFrom(answer: Response): Promise<DaemonError> {
  const text = await answer.text().catch(() => '')
  let message = `The node answered ${answer.status}.`
  try {
    const body: unknown = JSON.parse(text)
    if (typeof body === 'object' && body !== null && 'error' in body && typeof body.error === 'string') {
      message = body.error.slice(0, 500)
    }
  } catch {
    // Not JSON: the status says it all.
  }
  return new DaemonError(answer.status, message, requestIdOf(answer))
}
