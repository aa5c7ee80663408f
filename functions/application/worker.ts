import { mysqlHost } from '../../src/adapters/mysql-host.ts'
import { lazyOauth } from '../../src/platform/lazy-oauth.ts'
import { lazyObjectStore } from '../../src/platform/lazy-object-store.ts'
import { worker } from '../../src/platform/workers.ts'
import { application } from '../../src/surfaces/application.ts'

export default worker([application], { mysqlHost, objects: lazyObjectStore, oauth: lazyOauth() })
