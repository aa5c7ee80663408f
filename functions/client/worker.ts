import { mysqlHosts } from '../../src/adapters/mysql-host.ts'
import { lazyObjectStore } from '../../src/platform/lazy-object-store.ts'
import { worker } from '../../src/platform/workers.ts'
import { client } from '../../src/surfaces/client.ts'
import { monitoring } from '../../src/surfaces/monitoring.ts'
import { avatars } from '../../src/surfaces/avatars.ts'

export default worker([client, avatars, monitoring], { objects: lazyObjectStore, mysqlHost: mysqlHosts })
