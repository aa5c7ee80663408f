import { writeFile } from 'node:fs/promises'

/** What `configure` is told: where the panel is, with which key, for which node, and where the file goes. */
export type ConfigureRequest = { panelUrl: string; token: string; node: string; file: string }

/** Milliseconds in which the panel must answer. */
const timeoutMs = 30_000

/**
 * Fetches the configuration of a node from the panel, and writes it for the daemon. Throws with the reason when the
 * panel refuses. Wings: GET /api/application/nodes/{node}/configuration
 */
export async function configure({ panelUrl, token, node, file }: ConfigureRequest): Promise<void> {
  const path = `/api/application/nodes/${encodeURIComponent(node)}/configuration`
  const answer = await fetch(new URL(path, panelUrl), {
    headers: { authorization: `Bearer ${token}`, accept: 'application/vnd.pterodactyl.v1+json' },
    signal: AbortSignal.timeout(timeoutMs),
  })
  if (answer.status === 401 || answer.status === 403)
    throw new Error('The panel refuses the key: it is wrong, has expired, or may not read this node.')
  if (!answer.ok) throw new Error(`The panel answered with status ${answer.status}.`)
  // A page that a proxy answers would otherwise become the configuration.
  const configuration = (await answer.json()) as { token?: unknown }
  if (typeof configuration.token !== 'string') throw new Error('The answer is no configuration of a node.')
  await writeFile(file, JSON.stringify(configuration, null, 2), { mode: 0o600 })
}
