import { mysqlHosts } from '../../src/adapters/mysql-host.ts'
import { publicFetch } from '../../src/adapters/public-fetch.ts'
import { lazyOauth } from '../../src/platform/lazy-oauth.ts'
import { lazyObjectStore } from '../../src/platform/lazy-object-store.ts'
import { worker } from '../../src/platform/workers.ts'
import { workersSendGet } from '../../src/platform/workers-send-get.ts'
import { application } from '../../src/surfaces/application.ts'

export default worker([application], {
  mysqlHost: mysqlHosts,
  objects: lazyObjectStore,
  oauth: lazyOauth,
  publicFetch: (allowedNetworks) => publicFetch(workersSendGet, { allowedNetworks }),
})
