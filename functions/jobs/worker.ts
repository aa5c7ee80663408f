import { mysqlHosts } from '../../src/adapters/mysql-host.ts'
import { findSigningKey } from '../../src/adapters/queue-signature.ts'
import { runTick } from '../../src/domain/jobs/tick.ts'
import { lazyObjectStore } from '../../src/platform/lazy-object-store.ts'
import { workersGameQuery } from '../../src/platform/workers-game-query.ts'
import { worker } from '../../src/platform/workers.ts'
import { jobs } from '../../src/surfaces/jobs.ts'

export default worker([jobs], {
  objects: lazyObjectStore,
  mysqlHost: mysqlHosts,
  gameQuery: workersGameQuery,
  verifySignature: findSigningKey,
  tick: runTick,
})
