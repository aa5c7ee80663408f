import { mysqlHost } from '../../src/adapters/mysql-host.ts'
import { s3ObjectStore } from '../../src/adapters/objects.ts'
import { worker } from '../../src/platform/workers.ts'
import { client } from '../../src/surfaces/client.ts'
import { monitoring } from '../../src/surfaces/monitoring.ts'
import { avatars } from '../../src/surfaces/avatars.ts'

export default worker([client, avatars, monitoring], { objects: s3ObjectStore, mysqlHost })
