import manifest from '../../package.json' with { type: 'json' }
import { type RouteRow, routesOf } from '../http/facts.ts'
import type { DocumentInfo } from '../http/openapi.ts'
import { surfaces } from '../surfaces/all.ts'

/** Every mounted route, surface by surface. */
export const mountedRoutes = (): RouteRow[] => surfaces.flatMap((surface) => routesOf(surface as never))

const clientKey = {
  type: 'http',
  scheme: 'bearer',
  description: 'A key that a person made for himself: `ptlc_…`.',
} as const

const applicationKey = {
  type: 'http',
  scheme: 'bearer',
  description: 'A key of an administrator: `ptla_…`. It holds a level on each resource.',
} as const

const nodeToken = {
  type: 'http',
  scheme: 'bearer',
  description: 'Id and secret of a node, joined by a dot.',
} as const

const session = {
  type: 'apiKey',
  in: 'cookie',
  name: 'roost_session',
  description: 'A browser session. Requests that change something also send `X-XSRF-TOKEN`.',
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
  description: 'A signature of the queue over address and body.',
} as const

/** What the document says beside the routes. */
export const apiInfo = (url: string): DocumentInfo => ({
  title: 'Roost',
  version: manifest.version,
  description: manifest.description,
  url,
  tags: [
    { name: 'client', prefix: '/api/client', description: 'What people do with the servers they reach.' },
    {
      name: 'application',
      prefix: '/api/application',
      description: 'What integrations of administrators call.',
    },
    { name: 'remote', prefix: '/api/remote', description: 'What the daemons of nodes call.' },
    { name: 'jobs', prefix: '/jobs', description: 'What the queue calls.' },
    { name: 'browser', prefix: '/', description: 'What browsers and monitors call.' },
  ],
  credentials: {
    'client key or session': { clientKey, session },
    'browser session': { session },
    'application key': { applicationKey },
    'node token': { nodeToken },
    'queue signature': { queueSignature },
    'metrics token': { metricsToken },
    none: {},
  },
})
