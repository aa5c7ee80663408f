import { mysqlHost } from '../../src/adapters/mysql-host.ts'
import { s3ObjectStore } from '../../src/adapters/objects.ts'
import { findSigningKey } from '../../src/adapters/queue-signature.ts'
import { runTick } from '../../src/domain/jobs/tick.ts'
import { workersGameQuery } from '../../src/platform/workers-game-query.ts'
import { worker } from '../../src/platform/workers.ts'
import { jobs } from '../../src/surfaces/jobs.ts'

export default worker([jobs], {
  objects: s3ObjectStore,
  mysqlHost,
  gameQuery: workersGameQuery,
  verifySignature: findSigningKey,
  tick: runTick,
})
