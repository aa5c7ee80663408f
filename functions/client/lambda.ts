import { mysqlHosts } from '../../src/adapters/mysql-host.ts'
import { lambda } from '../../src/platform/lambda.ts'
import { client } from '../../src/surfaces/client.ts'
import { monitoring } from '../../src/surfaces/monitoring.ts'
import { avatars } from '../../src/surfaces/avatars.ts'
import { lazyObjectStore } from '../../src/platform/lazy-object-store.ts'

export const handler = lambda([client, avatars, monitoring], {
  objects: lazyObjectStore,
  mysqlHost: mysqlHosts,
})
