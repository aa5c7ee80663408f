import { setTimeout as sleep } from 'node:timers/promises'
import { reasonOf } from '../faults.ts'
import { differingFields } from './compare-answers.ts'
import type { Hashids } from './hashids.ts'
import { type AppKeys, decryptColumn, UnreadableSecretError } from './laravel.ts'
import type { SourceRow, Spool } from './spool.ts'
import { numberOf, textOf } from './values.ts'

/** An answer of this panel in which fields of the old one's are missing or differ. */
export type WireDifference = { caller: string; request: string; fields: string[] }
/** What both panels were asked, and where they differ. */
export type WireComparison = { requests: number; differences: WireDifference[] }

/** Addresses of the two panels, rows of the old one, and its keys. */
export type WireOptions = {
  old: string
  current: string
  spool: Spool
  keys: AppKeys
  /** How the old panel writes the ids of databases, where it is known. */
  hashids: Hashids | null
}

type Caller = { name: string; token: string; kind: 'client' | 'application' | 'daemon' }
type Answer = { status: number; body: unknown }

/** Callers of each kind, and servers of each caller, that are asked for. */
const maxCallers = 5
const maxServers = 5
const requestTimeoutMs = 20_000
const maxFields = 20
/** Keys that authenticate on the Client API. */
const clientKeyTypes = [0, 1, 3, 4]

const clientPaths = ['/api/client/account', '/api/client?per_page=50']
const serverPaths = ['', '/network/allocations', '/databases', '/backups', '/schedules', '/users', '/startup']
const applicationPaths = ['users', 'servers', 'nodes', 'locations', 'nests'].map(
  (name) => `/api/application/${name}?per_page=50`,
)

/**
 * Asks both panels the same, as some keys of players and administrators and as some daemons, and lists the differing
 * fields. Both are only read. Throws where one of the panels cannot be reached.
 */
export async function compareWires(options: WireOptions): Promise<WireComparison> {
  const comparison: WireComparison = { requests: 0, differences: [] }
  const numbers = await numbersOf(options)
  const ask = async (caller: Caller, path: string): Promise<Answer> => {
    const [answered, current] = await Promise.all([
      get(options.old, path, caller.token),
      get(options.current, path, caller.token),
    ])
    const old = path.endsWith('/databases') ? withNumbers(answered, numbers) : answered
    comparison.requests += 1
    const fields =
      old.status === current.status
        ? differingFields(old.body, current.body)
        : [`(status ${old.status}, here ${current.status})`]
    if (fields.length > 0)
      comparison.differences.push({
        caller: caller.name,
        request: `GET ${path}`,
        fields: fields.slice(0, maxFields),
      })
    return old
  }
  for (const caller of await findCallers(options)) await askAs(caller, (path) => ask(caller, path))
  return comparison
}

async function askAs({ kind }: Caller, ask: (path: string) => Promise<Answer>): Promise<void> {
  if (kind === 'application') for (const path of applicationPaths) await ask(path)
  if (kind === 'client') {
    const answers: Answer[] = []
    for (const path of clientPaths) answers.push(await ask(path))
    for (const server of listed(answers.at(-1), 'identifier'))
      for (const path of serverPaths) await ask(`/api/client/servers/${server}${path}`)
  }
  if (kind === 'daemon')
    for (const server of listed(await ask('/api/remote/servers?page=1&per_page=50'), 'uuid'))
      await ask(`/api/remote/servers/${server}`)
}

/** Returns what identifies the first servers of a list. */
function listed(answer: Answer | undefined, name: 'identifier' | 'uuid'): string[] {
  const { data = [] } = (answer?.body ?? {}) as {
    data?: { attributes?: Record<string, unknown>; [name: string]: unknown }[]
  }
  return data
    .map((item) => String(item.attributes?.[name] ?? item[name] ?? ''))
    .filter(Boolean)
    .slice(0, maxServers)
}

/** The numbers of databases, which this panel shows, by what the old one shows for them. */
async function numbersOf({ spool, hashids }: WireOptions): Promise<Map<string, string>> {
  const numbers = new Map<string, string>()
  if (!hashids) return numbers
  for await (const rows of spool.batches('databases'))
    for (const { id } of rows) numbers.set(hashids(Number(id)), String(id))
  return numbers
}

function withNumbers({ status, body }: Answer, numbers: Map<string, string>): Answer {
  const { data } = (body ?? {}) as { data?: unknown }
  if (!Array.isArray(data)) return { status, body }
  const items = (data as { attributes?: { id?: unknown } }[]).map((item) => {
    const id = numbers.get(String(item.attributes?.id))
    return id === undefined ? item : { ...item, attributes: { ...item.attributes, id } }
  })
  return { status, body: { ...(body as object), data: items } }
}

async function findCallers({ spool, keys }: WireOptions): Promise<Caller[]> {
  const found: Record<Caller['kind'], Caller[]> = { client: [], application: [], daemon: [] }
  const add = (kind: Caller['kind'], name: string, id: string, row: SourceRow, column: string) => {
    const secret = readToken(keys, row, column)
    if (secret !== null && found[kind].length < maxCallers)
      found[kind].push({ kind, name, token: `${id}${secret}` })
  }
  for await (const rows of spool.batches('api_keys'))
    for (const row of rows) {
      const type = numberOf(row, 'key_type')
      const kind = type === 2 ? 'application' : clientKeyTypes.includes(type) ? 'client' : null
      if (kind) add(kind, `API key ${row.id}`, textOf(row, 'identifier'), row, 'token')
    }
  for await (const rows of spool.batches('nodes'))
    for (const row of rows)
      add('daemon', `node ${row.id}`, `${textOf(row, 'daemon_token_id')}.`, row, 'daemon_token')
  return Object.values(found).flat()
}

function readToken(keys: AppKeys, row: SourceRow, column: string): string | null {
  try {
    return decryptColumn(keys, textOf(row, column))
  } catch (error) {
    if (error instanceof UnreadableSecretError) return null
    throw error
  }
}

/** Asks a panel, and once more where it says that requests are too many. */
async function get(panel: string, path: string, token: string): Promise<Answer> {
  const request = () =>
    fetch(new URL(path, panel), {
      headers: { accept: 'application/json', authorization: `Bearer ${token}` },
      redirect: 'manual',
      signal: AbortSignal.timeout(requestTimeoutMs),
    }).catch((error: unknown) => {
      throw new Error(
        `${new URL(panel).origin} does not answer (${reasonOf(error)}): is the address right, and the panel started?`,
      )
    })
  let response = await request()
  if (response.status === 429) {
    await sleep(1000 * Math.min(60, Number(response.headers.get('retry-after') ?? 60)))
    response = await request()
  }
  const text = await response.text()
  try {
    return { status: response.status, body: JSON.parse(text) as unknown }
  } catch {
    return { status: response.status, body: text }
  }
}
