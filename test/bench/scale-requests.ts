import type * as z from 'zod'
import { findMetadata, type RouteRow, routesOf } from '../../src/http/metadata.ts'
import { surfaces } from '../../src/surfaces/all.ts'
import type { ScaleSeed } from './scale-seed.ts'

export type ScaleRequest = { path: string; token: string }

/** Rows that paths name; the first server has one entry in a hundred of the log. */
const pathValues: Record<string, string> = { node: '1', nest: '1' }

/** What the filters look for: values that few rows have and such that many have. A list takes what its rows can match. */
const filterValues: Record<string, string[]> = {
  id: ['777', '1,2,3'],
  user_id: ['777'],
  node_id: ['7'],
  egg_id: ['1'],
  location_id: ['1'],
  status: ['suspended', 'normal'],
  uuid: ['9e3779b1', 'abc'],
  uuidShort: ['9e3779b1', 'abc'],
  name: ['Survival', '7777', 'server 77', 'Node 4', 'send-mail', 'run-schedule', 'e'],
  description: ['season 96', 'Run by'],
  image: ['nightly', 'java'],
  external_id: ['order-777', '777', 'customer-42', 'order-'],
  email: ['bela.17@d17.test', '4242@', 'mail.test'],
  username: ['hana', 'bela4241', '42'],
  fqdn: ['n42.', 'example'],
  daemon_token_id: ['abc'],
  short: ['l1'],
  long: ['Location'],
  host: ['db'],
  identifier: ['ptla_', 'abc'],
  state: ['dead', 'done', 'waiting', 'running', 'stopping', 'unknown'],
  '*': ['9e3779b1', '7777', 'Survival', '10.0.7.1', ':20007', ':20', '203.0.113.1', '10.0.7.1:20007'],
  ip: ['10.7.7.9', '10.0.1.1'],
  port: ['20007'],
  ip_alias: ['x'],
  server_id: ['1', ''],
  actor_id: ['1', '77'],
  event: ['power', 'key.create'],
  event_exact: ['server:power.start', 'auth:fail'],
  period: ['7d', '90d'],
  date: [new Date(Date.now() - 3 * 86_400_000).toISOString().slice(0, 10)],
  source: ['sftp'],
  node: ['Node 4'],
  egg: ['Paper'],
  owner: ['hana42'],
  favourite: ['true', 'false'],
  folder: ['1'],
  title: ['maintenance'],
  level: ['warning'],
  audience: ['all'],
  author_id: ['777'],
}
const searchValues = ['Survival', '7777', '9e3779b1', 'order-777']

/** Shares of all rows that lie before a page. */
const depths = [0, 0.01, 0.1, 0.5, 0.999]
const perPage = 50

/**
 * Lists one request for each filter, sort, search, type and page depth of every list, as the routes declare them.
 * Throws for a filter that has no values here, so that none is forgotten.
 */
export function scaleRequests(seed: ScaleSeed): ScaleRequest[] {
  const lists = surfaces
    .flatMap((surface) => routesOf(surface))
    .filter(({ method }) => method === 'GET')
    .flatMap((row) => {
      const query = queryOf(row)
      return query && 'page' in query ? [{ row, query }] : []
    })
  return [
    ...singleRequests(seed),
    ...lists.flatMap(({ row, query }) => {
      const path = row.path.replaceAll(/:(\w+)(?:\{[^}]*\})?/g, (_, name: string) => {
        const value = { ...pathValues, server: seed.hotServer, schedule: String(seed.servers / 10) }[name]
        if (value === undefined) throw new Error(`No value for :${name} of ${row.path}.`)
        return value
      })
      return variantsOf(query, seed.servers).map((variant) => ({
        path: variant === '' ? path : `${path}?${variant}`,
        token: tokenFor(path, variant, seed),
      }))
    }),
  ]
}

/** The view of one server, and a page of all servers with related rows. */
const singleRequests = (seed: ScaleSeed): ScaleRequest[] => [
  { path: `/api/client/servers/${seed.hotServer}`, token: seed.client },
  {
    path: `/api/application/servers?per_page=${perPage}&include=allocations,user,egg,location,node`,
    token: seed.application,
  },
]

function tokenFor(path: string, variant: string, seed: ScaleSeed): string {
  if (path.startsWith('/api/application')) return seed.application
  if (path.startsWith('/api/remote')) return seed.node
  return variant.includes('type=admin') ? seed.administrator : seed.client
}

type Shape = Record<string, z.ZodType>

function queryOf(row: RouteRow): Shape | null {
  const input = row.metadata.find((each) => each.kind === 'input' && each.target === 'query')
  if (!findMetadata(row, 'returns') || input?.kind !== 'input') return null
  return (input.schema() as z.ZodObject).shape ?? null
}

function variantsOf(query: Shape, servers: number): string[] {
  const types = 'type' in query ? namesIn(query.type?.description, /One of ([^;]*);/) : []
  const scopes = ['', ...types.map((type) => `type=${type}&`)]
  const filters = Object.keys(query.filter ? shapeOf(query.filter) : {}).flatMap((name) => {
    const values = filterValues[name]
    if (!values) throw new Error(`No value for filter[${name}].`)
    return values.map((value) => `filter[${name}]=${encodeURIComponent(value)}`)
  })
  const sorts = namesOfSorts(query.sort).flatMap((name) => [`sort=${name}`, `sort=-${name}`])
  const searches = 'search' in query ? searchValues.map((value) => `search=${value}`) : []
  const pages = depths.map(
    (depth) => `per_page=${perPage}&page=${1 + Math.floor((servers * depth) / perPage)}`,
  )
  const deployable = 'memory' in query ? 'memory=1024&disk=1024&' : ''
  return scopes.flatMap((scope) =>
    [...pages, ...filters, ...sorts, ...searches].map((variant) => deployable + scope + variant),
  )
}

/** The members of an object that may be optional. */
const shapeOf = (type: z.ZodType): Shape =>
  'shape' in type ? (type.shape as Shape) : shapeOf((type as unknown as { unwrap: () => z.ZodType }).unwrap())

const namesIn = (text: string | undefined, pattern: RegExp): string[] =>
  pattern.exec(text ?? '')?.[1]?.split(', ') ?? []

/** The names that `sort` takes are in the pattern of its metadata. */
function namesOfSorts(sort: z.ZodType | undefined): string[] {
  const { pattern = '' } = (sort?.meta()?.acceptedAs ?? {}) as { pattern?: string }
  const [, names = ''] = /-\?(?:\(\?:)?([\w|]+)/.exec(pattern) ?? []
  return names === '' ? [] : names.split('|')
}
