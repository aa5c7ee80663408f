import { mysqlHosts } from '../../src/adapters/mysql-host.ts'
import { publicFetch } from '../../src/adapters/public-fetch.ts'
import { lambda } from '../../src/platform/lambda.ts'
import { lazyOauth } from '../../src/platform/lazy-oauth.ts'
import { lazyObjectStore } from '../../src/platform/lazy-object-store.ts'
import { lazyNodeProbe } from '../../src/platform/lazy-node-probe.ts'
import { lazySendGet } from '../../src/platform/lazy-send-get.ts'
import { application } from '../../src/surfaces/application.ts'

export const handler = lambda([application], {
  mysqlHost: mysqlHosts,
  objects: lazyObjectStore,
  oauth: lazyOauth,
  probeNode: lazyNodeProbe,
  publicFetch: (allowedNetworks) => publicFetch(lazySendGet, { allowedNetworks }),
})
