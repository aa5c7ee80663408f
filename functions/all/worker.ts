import { mysqlHost } from '../../src/adapters/mysql-host.ts'
import { httpOauth } from '../../src/adapters/oauth.ts'
import { s3ObjectStore } from '../../src/adapters/objects.ts'
import { findSigningKey } from '../../src/adapters/queue-signature.ts'
import { runTick } from '../../src/domain/jobs/tick.ts'
import { workersGameQuery } from '../../src/platform/workers-game-query.ts'
import { workersLocaleFiles } from '../../src/platform/workers-locale-files.ts'
import { worker } from '../../src/platform/workers.ts'
import { surfaces } from '../../src/surfaces/all.ts'

export default worker(surfaces, {
  objects: s3ObjectStore,
  mysqlHost,
  gameQuery: workersGameQuery,
  oauth: httpOauth(),
  verifySignature: findSigningKey,
  locales: workersLocaleFiles,
  tick: runTick,
})
