import { mysqlHost } from '../../src/adapters/mysql-host.ts'
import { lambda } from '../../src/platform/lambda.ts'
import { lazyOauth } from '../../src/platform/lazy-oauth.ts'
import { lazyObjectStore } from '../../src/platform/lazy-object-store.ts'
import { nodeProbe } from '../../src/platform/node-probe.ts'
import { application } from '../../src/surfaces/application.ts'

export const handler = lambda([application], {
  mysqlHost,
  objects: lazyObjectStore,
  oauth: lazyOauth(),
  probeNode: nodeProbe,
})
