import { mysqlHosts } from '../../src/adapters/mysql-host.ts'
import { publicFetch } from '../../src/adapters/public-fetch.ts'
import { findSigningKey } from '../../src/adapters/queue-signature.ts'
import { runTick } from '../../src/domain/jobs/tick.ts'
import { lazyOauth } from '../../src/platform/lazy-oauth.ts'
import { lazyObjectStore } from '../../src/platform/lazy-object-store.ts'
import { workersGameQuery } from '../../src/platform/workers-game-query.ts'
import { workersLocaleFiles } from '../../src/platform/workers-locale-files.ts'
import { workersSendGet } from '../../src/platform/workers-send-get.ts'
import { worker } from '../../src/platform/workers.ts'
import { surfaces } from '../../src/surfaces/all.ts'

export default worker(surfaces, {
  objects: lazyObjectStore,
  mysqlHost: mysqlHosts,
  gameQuery: workersGameQuery,
  oauth: lazyOauth,
  publicFetch: (allowedNetworks) => publicFetch(workersSendGet, { allowedNetworks }),
  verifySignature: findSigningKey,
  locales: workersLocaleFiles,
  tick: runTick,
})
