import { mysqlHosts } from '../../src/adapters/mysql-host.ts'
import { findSigningKey } from '../../src/adapters/queue-signature.ts'
import { runTick } from '../../src/domain/jobs/tick.ts'
import { lambda } from '../../src/platform/lambda.ts'
import { lazyNodeProbe } from '../../src/platform/lazy-node-probe.ts'
import { lazyObjectStore } from '../../src/platform/lazy-object-store.ts'
import { nodeGameQuery } from '../../src/platform/node-game-query.ts'
import { openSmtp } from '../../src/platform/smtp.ts'
import { jobs } from '../../src/surfaces/jobs.ts'

export const handler = lambda([jobs], {
  objects: lazyObjectStore,
  mysqlHost: mysqlHosts,
  gameQuery: nodeGameQuery,
  probeNode: lazyNodeProbe,
  verifySignature: findSigningKey,
  smtp: openSmtp,
  tick: runTick,
})
