import { mysqlHost } from '../../src/adapters/mysql-host.ts'
import { httpOauth } from '../../src/adapters/oauth.ts'
import { s3ObjectStore } from '../../src/adapters/objects.ts'
import { signingKeyOf } from '../../src/adapters/queue-signature.ts'
import { tick } from '../../src/domain/tick.ts'
import { workersGameQuery } from '../../src/platform/workers-game-query.ts'
import { workersTextFiles } from '../../src/platform/workers-text-files.ts'
import { worker } from '../../src/platform/workers.ts'
import { surfaces } from '../../src/surfaces/all.ts'

export default worker(surfaces, {
  objects: s3ObjectStore,
  mysqlHost,
  gameQuery: workersGameQuery,
  oauth: httpOauth(),
  signatures: signingKeyOf,
  texts: workersTextFiles,
  tick,
})
