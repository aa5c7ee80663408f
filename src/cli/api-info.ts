import manifest from '../../package.json' with { type: 'json' }
import { type RouteRow, routesOf } from '../http/metadata.ts'
import type { DocumentInfo } from '../http/openapi.ts'
import { surfaces } from '../surfaces/all.ts'

/** Lists all mounted routes, by surface. */
export const listMountedRoutes = (): RouteRow[] => surfaces.flatMap((surface) => routesOf(surface as never))

const clientKey = {
  type: 'http',
  scheme: 'bearer',
  description: "A user's own API key: `ptlc_…`.",
} as const

const applicationKey = {
  type: 'http',
  scheme: 'bearer',
  description: "An administrator's API key: `ptla_…`. It has an access level for each resource.",
} as const

const nodeToken = {
  type: 'http',
  scheme: 'bearer',
  description: 'Token id and secret of a node, joined by a dot.',
} as const

const session = {
  type: 'apiKey',
  in: 'cookie',
  name: 'roost_session',
  description: 'A browser session. Requests that change data also send `X-XSRF-TOKEN`.',
} as const

const metricsToken = {
  type: 'http',
  scheme: 'bearer',
  description: 'The value of METRICS_TOKEN.',
} as const

const queueSignature = {
  type: 'apiKey',
  in: 'header',
  name: 'Upstash-Signature',
  description: 'The signature of the queue over the URL and the body.',
} as const

/** How input is read: see docs/api.md#input. */
const inputConventions =
  `The input of a change is JSON, or a form (\`application/x-www-form-urlencoded\` or \`multipart/form-data\`)
with names in brackets, over the query; schemas describe the JSON. Texts are trimmed before their length counts, blank
text is null, and members that a schema does not name are ignored.`.replaceAll('\n', ' ')

/** Returns the parts of the OpenAPI document that do not come from routes. */
export const apiInfo = (url: string): DocumentInfo => ({
  title: 'Roost',
  version: manifest.version,
  description: `${manifest.description} ${inputConventions}`,
  url,
  tags: [
    { name: 'client', prefix: '/api/client', description: 'Servers and the account, for users.' },
    { name: 'application', prefix: '/api/application', description: 'Administration, for integrations.' },
    { name: 'remote', prefix: '/api/remote', description: 'For the daemons of nodes.' },
    { name: 'jobs', prefix: '/jobs', description: 'For the queue.' },
    { name: 'browser', prefix: '/', description: 'For browsers and monitoring.' },
  ],
  credentials: {
    'client key or session': { clientKey, session },
    'browser session': { session },
    'application key or session': { applicationKey, session },
    'node token': { nodeToken },
    'queue signature': { queueSignature },
    'metrics token': { metricsToken },
    none: {},
  },
})
